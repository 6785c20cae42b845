import Locking
import TestSupport
import Testing

@testable import FastImageCache
@testable import LoadQueue

@Suite("Admission", .timeLimit(.minutes(10)))
struct AdmissionTests {
  @Test("adds up declared bytes without overflow under an unlimited budget")
  func unlimitedBudget() throws {
    var admission = Admission(width: 3, byteBudget: .max)
    let ids = (0..<3).map { _ in admission.makeJobID() }
    _ = try admission.submit(ids[0], priority: .medium, byteCount: .max - 1)
    #expect(try admission.submit(ids[1], priority: .medium, byteCount: .max) == [])
    #expect(admission.finish(ids[0]) == [ids[1]])
  }

  @Test("agrees with a plain model after any five events", arguments: [1, 2], [false, true])
  func exhaustive(width: Int, reservesPlace: Bool) {
    var leaves = 0
    let model = AdmissionModel(width: width, byteBudget: 3, reservesPlace: reservesPlace)
    explore(model, depth: 5, leaves: &leaves)
    #expect(leaves > 5_000)
  }

  @Test("keeps no more entries of jobs that left than of jobs that wait")
  func tidies() throws {
    var admission = Admission(width: 1, byteBudget: 0)
    for _ in 0..<2 {
      _ = try admission.submit(admission.makeJobID(), priority: .high, byteCount: 0)
    }
    for number in 0..<500 {
      let id = admission.makeJobID()
      #expect(try admission.submit(id, priority: .medium, byteCount: 0) == [])
      // Moved back to their old places too, and not withdrawn in the order of their arrival.
      for priority in [Priority.low, .medium, .low] {
        #expect(admission.move(id, to: priority) == [])
      }
      if number % 100 != 0 { #expect(admission.withdraw(id) == []) }
    }
    let queue = Mirror(reflecting: admission).children.first { $0.label == "queue" }
    let entries = try #require(queue.map { Mirror(reflecting: $0.value).children.count })
    #expect(admission.waitingCount == 6)
    #expect(entries <= 32)
  }

  @Test("agrees with a plain model over a long random history", arguments: 1...4, [false, true])
  func random(seed: UInt64, reservesPlace: Bool) {
    var generator = SplitMix64(state: seed)
    var model = AdmissionModel(width: 3, byteBudget: 50, reservesPlace: reservesPlace)
    for _ in 0..<5_000 {
      // Every other event is an end, so that a long history does not only queue.
      if let job = model.running.randomElement(using: &generator), Bool.random(using: &generator) {
        model.apply(.finish(job.id))
        continue
      }
      let events = model.possibleEvents(
        priorities: [.background, .low, .medium, .high], byteCounts: [0, 1, 7, 20, 50])
      guard let event = events.randomElement(using: &generator) else { break }
      model.apply(event)
    }
    #expect(model.startedCount > 1_000)
    model.drain()
    #expect(model.waiting.isEmpty)
  }

  private func explore(_ model: AdmissionModel, depth: Int, leaves: inout Int) {
    guard depth > 0 else {
      leaves += 1
      return
    }
    for event in model.possibleEvents(priorities: [.low, .high], byteCounts: [1, 3]) {
      var next = model
      next.apply(event)
      explore(next, depth: depth - 1, leaves: &leaves)
    }
  }
}

/// `Admission` beside the plainest thing that should answer alike: lists that are searched anew.
private struct AdmissionModel {
  enum Event {
    case submit(Priority, byteCount: Int)
    case move(Admission.JobID, Priority)
    case withdraw(Admission.JobID)
    case release(Admission.JobID)
    case finish(Admission.JobID)
  }

  struct Job {
    let id: Admission.JobID
    var priority: Priority
    var byteCount: Int
  }

  var admission: Admission
  /// In order of arrival.
  var waiting: [Job] = []
  var running: [Job] = []
  /// The last job that left.
  var former: Admission.JobID?
  var startedCount = 0

  init(width: Int, byteBudget: Int, reservesPlace: Bool) {
    admission = Admission(width: width, byteBudget: byteBudget, reservesPlace: reservesPlace)
  }

  func possibleEvents(priorities: [Priority], byteCounts: [Int]) -> [Event] {
    var events: [Event] = []
    if waiting.count < 40 {
      for priority in priorities {
        events += byteCounts.map { .submit(priority, byteCount: $0) }
      }
    }
    for job in waiting {
      events.append(.withdraw(job.id))
      events += priorities.map { .move(job.id, $0) }
    }
    events += running.flatMap { [.release($0.id), .finish($0.id)] }
    return events
  }

  mutating func apply(_ event: Event) {
    let started: [Admission.JobID]?
    switch event {
    case .submit(let priority, let byteCount):
      let id = admission.makeJobID()
      waiting.append(Job(id: id, priority: priority, byteCount: byteCount))
      started = try? admission.submit(id, priority: priority, byteCount: byteCount)
    case .move(let id, let priority):
      for index in waiting.indices where waiting[index].id == id {
        waiting[index].priority = priority
      }
      started = admission.move(id, to: priority)
    case .withdraw(let id):
      waiting.removeAll { $0.id == id }
      started = admission.withdraw(id)
      former = id
    case .release(let id):
      for index in running.indices where running[index].id == id { running[index].byteCount = 0 }
      started = admission.release(id)
    case .finish(let id):
      running.removeAll { $0.id == id }
      started = admission.finish(id)
      former = id
    }
    let expected = expectedStarts()
    // One expectation per fault: a passed one costs more than everything else here.
    if started != expected {
      Issue.record("\(event) started \(String(describing: started)), not \(expected).")
    }
    if running.count > admission.width
      || running.reduce(0, { $0 + $1.byteCount }) > admission.byteBudget
      || admission.waitingCount != waiting.count || admission.runningCount != running.count
    {
      Issue.record("\(event) broke a bound or lost a job.")
    }
    if let former, admission.withdraw(former) != nil || admission.move(former, to: .low) != [] {
      Issue.record("After \(event) a job was taken for one that had left.")
    }
  }

  mutating func drain() {
    while let job = running.first { apply(.finish(job.id)) }
  }

  private mutating func expectedStarts() -> [Admission.JobID] {
    var started: [Admission.JobID] = []
    while let highest = waiting.map(\.priority).max(),
      let index = waiting.firstIndex(where: { $0.priority == highest }),
      running.count < admission.width,
      highest >= .medium || !admission.reservesPlace
        || running.count(where: { $0.priority < .medium }) < max(admission.width - 1, 1),
      running.reduce(waiting[index].byteCount, { $0 + $1.byteCount }) <= admission.byteBudget
    {
      let job = waiting.remove(at: index)
      running.append(job)
      started.append(job.id)
    }
    startedCount += started.count
    return started
  }
}

@Suite("An admission queue", .timeLimit(.minutes(10)))
struct AdmissionQueueTests {
  @Test("is not kept by the urgency of a job that was answered")
  func endsObservation() async {
    let urgency = Urgency(.medium)
    let observed = await { () async -> () -> AdmissionQueue? in
      let queue = AdmissionQueue(width: 1, byteBudget: 0)
      let answer: AdmissionQueue.Answer = await queue.enter(urgency) { continuation, _ in
        { continuation.resume(returning: $0) }
      }
      if case .admitted(let id, _) = answer { queue.finish(id) }
      weak let left = queue
      return { left }
    }()
    #expect(observed() == nil)
    #expect(urgency.priority == .medium)
  }

  @Test("tells a job the priority that let it in, though its urgency falls before it is told")
  func tellsPriority() throws {
    let queue = AdmissionQueue(width: 2, byteBudget: 2)
    let (falling, told) = (Urgency(.medium), Lock<[Priority]>([]))
    let note: AdmissionQueue.Reply = { answer in
      if case .admitted(_, let priority) = answer { told.withLock { $0.append(priority) } }
    }
    let (occupying, first, second) = (
      queue.makePlace(Urgency(.high)), queue.makePlace(Urgency(.high)), queue.makePlace(falling)
    )
    let answer = occupying.enter(byteCount: 2, reply: note)
    guard case .admitted(let id, .high)? = answer else {
      Issue.record("The first job was not let in at once.")
      return
    }
    // Both wait, and one event lets both in.
    #expect(
      first.enter(byteCount: 1) {
        note($0)
        falling.set(.low)?()
      } == nil)
    #expect(second.enter(byteCount: 1, reply: note) == nil)
    queue.finish(id)
    #expect(told.withLock { $0 } == [.high, .medium] && falling.priority == .low)
  }
}

@Suite("A place that is kept from jobs of low priority", .timeLimit(.minutes(10)))
struct KeptPlaceTests {
  @Test("is not for an idle job either, which is of low priority")
  func idleJob() throws {
    var admission = Admission(width: 2, byteBudget: 0, reservesPlace: true)
    let (low, urgent) = (admission.makeJobID(), admission.makeJobID())
    #expect(try admission.submit(low, priority: .low, byteCount: 0) == [low])
    #expect(admission.startIdleJob(byteCount: 0) == nil)
    #expect(admission.finish(low) == [])
    let started = admission.startIdleJob(byteCount: 0)
    let idleJob = try #require(started)
    #expect(try admission.submit(urgent, priority: .high, byteCount: 0) == [urgent])
    #expect(admission.finish(idleJob) == [])
  }

  @Test("is kept at a gate at all times")
  func gate() async throws {
    let gate = LoadResources(localWidth: 2)[.local]
    let first = try await gate.enter(Urgency(.low))
    let low = begun { try await gate.enter(Urgency(.background)) }
    #expect(gate.counts == (1, 1))
    let row = try await gate.enter(Urgency(.medium))
    gate.finish(row)
    #expect(gate.counts == (1, 1))
    gate.finish(first)
    gate.finish(try await low.value)
    #expect(gate.counts == (0, 0))
  }
}
