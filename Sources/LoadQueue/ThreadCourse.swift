/// Decides when a thread with a queue of its own begins, sleeps and ends; it performs nothing itself.
///
/// Invariants:
/// 1. There is one thread, awake, asleep or begun, while a job is queued or ``expect()`` has promised one.
/// 2. The thread ends by itself only, and leaves no job behind.
/// 3. Jobs run in the order in which they came, one at a time.
struct ThreadCourse<Job: Sendable>: Sendable {
  /// What the caller does for the thread, outside the lock.
  enum Call: Sendable {
    case nothing, begin, wake
  }

  /// What the thread does next.
  enum Turn: Sendable {
    case run(Job)
    case sleep, end
  }

  private enum Phase {
    case absent, awake, asleep
  }

  private var jobs: [Job] = []
  private var phase = Phase.absent
  private var isExpecting = false
  private var isClosed = false

  /// A job will come, perhaps from a thread that must not begin another one.
  mutating func expect() -> Call {
    isExpecting = true
    guard phase == .absent else { return .nothing }
    phase = .awake
    return .begin
  }

  /// Adds a job that has time until the promised one comes: wakes nobody.
  mutating func addQuietly(_ job: Job) {
    precondition(isExpecting, "A job that wakes nobody comes before a promised one.")
    jobs.append(job)
  }

  /// No thread could begin: takes the jobs back that it was to run.
  mutating func takeBack() -> [Job] {
    phase = .absent
    defer { jobs = [] }
    return jobs
  }

  /// - Parameter isExpected: Whether it is the job that ``expect()`` promised.
  mutating func add(_ job: Job, isExpected: Bool = false) -> Call {
    if isExpected { isExpecting = false }
    jobs.append(job)
    return rouse(orBegin: true)
  }

  /// The thread has nothing to do at the moment.
  mutating func next() -> Turn {
    if !jobs.isEmpty { return .run(jobs.removeFirst()) }
    phase = isClosed && !isExpecting ? .absent : .asleep
    return phase == .absent ? .end : .sleep
  }

  /// The thread has slept for as long as a thread without work stays.
  mutating func nextAfterTimeout() -> Turn {
    if jobs.isEmpty, !isExpecting {
      phase = .absent
      return .end
    }
    return next()
  }

  /// Ends the thread as soon as it has run its jobs.
  mutating func close() -> Call {
    isClosed = true
    return rouse(orBegin: false)
  }

  private mutating func rouse(orBegin begins: Bool) -> Call {
    switch phase {
    case .awake: return .nothing
    case .asleep:
      phase = .awake
      return .wake
    case .absent:
      guard begins else { return .nothing }
      phase = .awake
      return .begin
    }
  }
}
