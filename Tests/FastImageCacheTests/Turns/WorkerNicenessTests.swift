#if os(Linux)
  import CTestProbes
  import Foundation
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache

  /// How nice threads are, in a process that has nicer ones only of the worker that is tested: threads that they
  /// begin elsewhere, as decoders of other tests do, are as nice for good.
  private enum Niceness {
    private static let oneThread = __priority_which_t(PRIO_PROCESS.rawValue)

    static var ofThisThread: Int32 { getpriority(oneThread, 0) }

    static func expected(_ level: WorkLevel) -> Int32 {
      min(getpriority(oneThread, id_t(getpid())) + level.niceness, 19)
    }

    /// False for a right that nobody has here.
    static func mayBecomeLessNice() -> Bool { setpriority(oneThread, 0, ofThisThread - 1) == 0 }
  }

  /// The niceness of each step of jobs that run one after the other.
  private func steps(of priorities: [Priority], on worker: Worker) async -> [Int32] {
    let (seen, done) = (Lock<[Int32]>([]), Counter())
    let note = { @Sendable in seen.withLock { $0.append(Niceness.ofThisThread) } }
    for (index, priority) in priorities.enumerated() {
      worker.start(
        Probe(computing: note) {
          note()
          done.increment()
        }, priority)
      await done.reaches(index + 1)
    }
    return seen.withLock { $0 }
  }

  /// Computes until another thread has had a good part of the core.
  private func computeUntilPreempted() {
    let (begin, time) = (ContinuousClock.now, ThreadTime.now)
    while true {
      let (elapsed, worked) = (ContinuousClock.now - begin, ThreadTime.now - time)
      if elapsed - worked > .milliseconds(2), (elapsed - worked) * 4 > elapsed { return }
    }
  }

  @Suite("The niceness of a worker's threads, in a process of their own,", .timeLimit(.minutes(10)))
  struct WorkerNicenessTests {
    @Test("is 5 or 10 above the main one's for computing on shared cores, by the priority")
    func levels() async {
      await #expect(processExitsWith: .success) {
        let worker = Worker(
          name: "test", computingIn: Lock(.always), WorkerThread.Settings(patience: .never))
        let levels: [WorkLevel] = [
          .beside, .normal, .behind, .normal, .beside, .normal, .behind, .normal,
        ]
        let found = await steps(of: [.high, .low, .medium, .background], on: worker)
        #expect(found == levels.map(Niceness.expected))
      }
    }

    @Test("is the main one's where jobs wait rather than compute, whatever their priority")
    func waiting() async {
      await #expect(processExitsWith: .success) {
        let worker = Worker(
          name: "test", computingIn: nil, WorkerThread.Settings(patience: .never))
        let found = await steps(of: [.low, .high], on: worker)
        #expect(found == Array(repeating: Niceness.expected(.normal), count: 4))
      }
    }

    @Test("is the main one's where cores are not shared, on one thread")
    func calm() async {
      await #expect(processExitsWith: .success) {
        let worker = Worker(
          name: "test", computingIn: Lock(Crowding()), WorkerThread.Settings(patience: .never))
        let (threads, done) = (Lock<[pthread_t]>([]), Counter())
        let note = { @Sendable in
          threads.withLock { $0.append(pthread_self()) }
          #expect(Niceness.ofThisThread == Niceness.expected(.normal))
        }
        worker.start(
          Probe(computing: note) {
            note()
            done.increment()
          }, .medium)
        await done.reaches(1)
        #expect(Set(threads.withLock { $0 }).count == 1)
      }
    }

    @Test("rises when a job has lost its core to another thread")
    func becomesNicer() async {
      await #expect(processExitsWith: .success) {
        let crowding = Lock(Crowding())
        let worker = Worker(name: "test", computingIn: crowding)
        let (competes, ends, done) = (Counter(), Cancellation(), Counter())
        Thread.detachNewThread {
          _ = probe_bind_to_first_core()
          competes.increment()
          while !ends.isSet {}
        }
        await competes.reaches(1)
        let begin = ContinuousClock.now
        worker.start(
          Probe(computing: {
            // Both threads then compete for one core.
            _ = probe_bind_to_first_core()
            computeUntilPreempted()
          }) { done.increment() })
        await done.reaches(1)
        ends.set()
        #expect(crowding.withLock { $0.level(for: .high, at: begin) } == .beside)
      }
    }

    @Test("is the same for an ordinary user, who cannot take anything back")
    func ordinaryUser() async {
      await #expect(processExitsWith: .success) {
        let (seen, may) = (Lock<[Int32]>([]), Lock<[Bool]>([]))
        let done = Counter()
        Thread.detachNewThread {
          // Of this thread only; those that it begins are as ordinary.
          guard probe_become_ordinary() == 0 else { return done.end() }
          let worker = Worker(
            name: "test", computingIn: Lock(.always), WorkerThread.Settings(patience: .never))
          let note = { @Sendable in
            seen.withLock { $0.append(Niceness.ofThisThread) }
            may.withLock { $0.append(Niceness.mayBecomeLessNice()) }
          }
          let last = Probe(computing: note) {
            note()
            done.increment()
          }
          worker.start(
            Probe(computing: note) {
              note()
              worker.start(last, .high)
            }, .low)
        }
        await done.reaches(1)
        #expect(may.withLock { $0 } == [false, false, false, false])
        let levels: [WorkLevel] = [.behind, .normal, .beside, .normal]
        #expect(seen.withLock { $0 } == levels.map(Niceness.expected))
      }
    }
  }
#endif
