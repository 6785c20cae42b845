/// Decides which jobs of an ``AdmissionQueue`` may start; it performs nothing itself.
///
/// Every event answers with the jobs to start now, in that order.
///
/// The job that ranks first is the next to start, even when a smaller one behind it would fit. So a
/// job that needs most of the budget waits for the running jobs, and for no later job of its own or a
/// lower priority. The price is idle capacity, for no longer than the longest running job takes.
///
/// Jobs below medium priority leave a place to others where ``reservesPlace`` says so: they may be slow, and a row
/// that comes on screen would wait for one of them to end.
///
/// Invariants:
/// 1. At most `width` jobs run, and their bytes add up to `byteBudget` or less.
/// 2. `queue` holds the waiting jobs in the order of their ranks, the next to start first. An entry that has not the
///    rank of a waiting job is left over from one that was withdrawn or moved, for jobs leave in any order, and
///    taking one from the middle moves all behind it. The first entry is no such one, and no more than half of many
///    are.
/// 3. Between two events the job that ranks first does not fit beside the running jobs.
/// 4. An id is made, waits, runs, and is forgotten, in this order; an idle job never waits. Its job is `jobs[id.index]`
///    until it is forgotten, and then another one, or none.
/// 5. At most one idle job runs. It began while no job waited.
/// 6. No job below medium priority, and no idle job, begins while `lowLimit` of them run.
package struct Admission: Sendable {
  package struct JobID: Hashable, Sendable {
    fileprivate let number: Int
    /// No other job has the same one until this one is forgotten.
    let index: Int
  }

  /// The order of starting: the higher priority first, and within one priority the earlier arrival.
  private struct Rank: Comparable {
    var priority: Priority
    let arrival: Int

    static func < (left: Rank, right: Rank) -> Bool {
      (right.priority, left.arrival) < (left.priority, right.arrival)
    }
  }

  private struct Entry {
    let id: JobID
    let byteCount: Int
    var rank: Rank
  }

  private enum Stage {
    case made
    case waiting(Rank)
    case running(byteCount: Int, Priority)
  }

  private struct Job {
    let number: Int
    var stage = Stage.made
  }

  let width: Int
  let byteBudget: Int
  /// Whether one place of several is not for jobs below medium priority.
  let reservesPlace: Bool

  /// A slice, since a first job that leaves moves no others then.
  private var queue: ArraySlice<Entry> = []
  /// An array, since a dictionary would hash an id at each step.
  private var jobs: [Job?] = []
  private var freeIndices: [Int] = []
  private(set) var waitingCount = 0
  private(set) var runningCount = 0
  private var runningByteCount = 0
  private var runningLowCount = 0
  /// The running job that began as an idle job.
  private(set) var idleJob: JobID?
  private var idCount = 0
  private var arrivalCount = 0

  init(width: Int, byteBudget: Int, reservesPlace: Bool = false) {
    precondition(width > 0, "A queue admits at least one job at a time.")
    precondition(byteBudget >= 0, "A budget of bytes cannot be negative.")
    self.width = width
    self.byteBudget = byteBudget
    self.reservesPlace = reservesPlace
  }

  /// How many jobs below medium priority may run at once; one at least, or they would wait for ever.
  private var lowLimit: Int { reservesPlace ? max(width - 1, 1) : width }

  /// An id for one job, to be submitted or withdrawn.
  mutating func makeJobID() -> JobID {
    idCount += 1
    let id = JobID(number: idCount, index: freeIndices.popLast() ?? jobs.count)
    if id.index == jobs.count {
      jobs.append(nil)
      // Withdrawing a job, which frees an index, takes no memory.
      freeIndices.reserveCapacity(jobs.capacity)
    }
    jobs[id.index] = Job(number: id.number)
    return id
  }

  /// Queues a job.
  ///
  /// - Throws: ``AdmissionError`` when the job could not even run alone; it is forgotten then.
  mutating func submit(
    _ id: JobID, priority: Priority, byteCount: Int
  ) throws(AdmissionError) -> [JobID] {
    guard case .made? = stage(of: id) else {
      preconditionFailure("A job is submitted once.")
    }
    precondition(byteCount >= 0, "A job cannot need a negative number of bytes.")
    guard byteCount <= byteBudget else {
      forget(id)
      throw AdmissionError(byteCount: byteCount, budget: byteBudget)
    }
    arrivalCount += 1
    let rank = Rank(priority: priority, arrival: arrivalCount)
    insert(Entry(id: id, byteCount: byteCount, rank: rank))
    waitingCount += 1
    return admit()
  }

  /// Starts a job at once, as an idle job, or not at all: only while no job waits, beside the jobs that run,
  /// and one idle job at a time.
  mutating func startIdleJob(byteCount: Int) -> JobID? {
    precondition(byteCount >= 0, "A job cannot need a negative number of bytes.")
    guard idleJob == nil, waitingCount == 0, fits(byteCount: byteCount, .low) else { return nil }
    let id = makeJobID()
    start(id, byteCount: byteCount, .low)
    idleJob = id
    return id
  }

  /// Changes the priority of a waiting job; does nothing for a job that does not wait.
  ///
  /// The job keeps its arrival, and so its rank among the jobs of the new priority: a row that scrolls
  /// away and comes back has lost nothing.
  mutating func move(_ id: JobID, to priority: Priority) -> [JobID] {
    guard let rank = rank(of: id), rank.priority != priority else { return [] }
    var entry = queue[position(of: rank)]
    entry.rank.priority = priority
    insert(entry)
    tidy()
    return admit()
  }

  /// Gives up a job that waits, or will not be submitted; `nil` if it does not wait.
  mutating func withdraw(_ id: JobID) -> [JobID]? {
    switch stage(of: id) {
    case .made?:
      forget(id)
      return nil
    case .waiting?:
      forget(id)
      waitingCount -= 1
      tidy()
      return admit()
    case .running?, nil: return nil
    }
  }

  /// A running job gives its bytes back and goes on.
  mutating func release(_ id: JobID) -> [JobID] {
    let (byteCount, priority) = running(id)
    runningByteCount -= byteCount
    jobs[id.index]?.stage = .running(byteCount: 0, priority)
    return admit()
  }

  /// Ends a running job.
  mutating func finish(_ id: JobID) -> [JobID] {
    let (byteCount, priority) = running(id)
    forget(id)
    runningCount -= 1
    runningByteCount -= byteCount
    if priority.isLow { runningLowCount -= 1 }
    if idleJob == id { idleJob = nil }
    return admit()
  }

  /// The bytes of a running job, and the priority at which it was admitted.
  func running(_ id: JobID) -> (byteCount: Int, priority: Priority) {
    guard case .running(let byteCount, let priority)? = stage(of: id) else {
      preconditionFailure("Only a running job gives bytes back, or finishes.")
    }
    return (byteCount, priority)
  }

  private mutating func admit() -> [JobID] {
    var started: [JobID] = []
    while let next = queue.first, fits(byteCount: next.byteCount, next.rank.priority) {
      waitingCount -= 1
      start(next.id, byteCount: next.byteCount, next.rank.priority)
      tidy()
      started.append(next.id)
    }
    return started
  }

  /// Whether a job fits beside those that run.
  private func fits(byteCount: Int, _ priority: Priority) -> Bool {
    // The difference cannot overflow, by invariant 1; a sum could, under an unlimited budget.
    runningCount < width && byteCount <= byteBudget - runningByteCount
      && !(priority.isLow && runningLowCount >= lowLimit)
  }

  private mutating func start(_ id: JobID, byteCount: Int, _ priority: Priority) {
    jobs[id.index]?.stage = .running(byteCount: byteCount, priority)
    runningCount += 1
    runningByteCount += byteCount
    if priority.isLow { runningLowCount += 1 }
  }

  /// `nil` for a job that was forgotten.
  private func stage(of id: JobID) -> Stage? {
    guard let job = jobs[id.index], job.number == id.number else { return nil }
    return job.stage
  }

  /// `nil` for a job that does not wait.
  private func rank(of id: JobID) -> Rank? {
    if case .waiting(let rank)? = stage(of: id) { rank } else { nil }
  }

  private mutating func forget(_ id: JobID) {
    jobs[id.index] = nil
    freeIndices.append(id.index)
  }

  private mutating func insert(_ entry: Entry) {
    jobs[entry.id.index]?.stage = .waiting(entry.rank)
    let isLast = queue.last.map { $0.rank < entry.rank } ?? true
    let position = isLast ? queue.endIndex : position(of: entry.rank)
    // Left over from the same job, which was moved away and back.
    if position < queue.endIndex, queue[position].rank == entry.rank { return }
    // Only appending makes room for more than one; inserting might copy the queue each time.
    queue.append(entry)
    var index = queue.endIndex - 1
    while index > position {
      queue.swapAt(index, index - 1)
      index -= 1
    }
  }

  /// Restores invariant 2 after a job has left its place.
  private mutating func tidy() {
    while let first = queue.first, rank(of: first.id) != first.rank { queue.removeFirst() }
    guard queue.count > 32, queue.count > 2 * waitingCount else { return }
    queue = ArraySlice(queue.filter { rank(of: $0.id) == $0.rank })
  }

  /// The index of `rank` in the queue, or the index to insert it at.
  private func position(of rank: Rank) -> Int {
    var lower = queue.startIndex
    var upper = queue.endIndex
    while lower < upper {
      let middle = lower + (upper - lower) / 2
      if queue[middle].rank < rank { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }
}

/// Why a job was not even queued: it needs more memory than all jobs together may take.
package struct AdmissionError: Error, Hashable, CustomStringConvertible {
  let byteCount: Int
  let budget: Int

  /// One sentence with both numbers; users read it in ``ImageCacheError/imageTooLarge(_:_:)``.
  package var description: String {
    "The work takes \(byteCount) bytes of memory; the budget is \(budget)."
  }
}
