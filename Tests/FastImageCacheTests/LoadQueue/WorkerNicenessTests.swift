#if os(Linux)
  import CTestProbes
  import Foundation
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import LoadQueue

  /// How nice threads are, in a process that has nicer ones only of the worker that is tested: threads that they
  /// begin elsewhere, as decoders of other tests do, are as nice for good.
  private enum Niceness {
    private static let oneThread = __priority_which_t(PRIO_PROCESS.rawValue)

    static var ofThisThread: Int32 { getpriority(oneThread, 0) }

    static func expected(isNicer: Bool) -> Int32 {
      min(getpriority(oneThread, id_t(getpid())) + (isNicer ? 5 : 0), 19)
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

  @Suite("The niceness of a worker's threads, in a process of their own,", .timeLimit(.minutes(10)))
  struct WorkerNicenessTests {
    @Test(
      "is 5 above the main one's for computing, whatever the priority, and the main one's for the rest"
    )
    func computing() async {
      await #expect(processExitsWith: .success) {
        let worker = Worker(
          name: "test", computes: true, WorkerThread.Settings(patience: .never))
        let found = await steps(of: [.high, .low, .medium, .background], on: worker)
        let each = [true, false].map(Niceness.expected)
        #expect(found == each + each + each + each)
      }
    }

    @Test("is the main one's where jobs wait rather than compute, whatever their priority")
    func waiting() async {
      await #expect(processExitsWith: .success) {
        let worker = Worker(
          name: "test", computes: false, WorkerThread.Settings(patience: .never))
        let found = await steps(of: [.low, .high], on: worker)
        #expect(found == Array(repeating: Niceness.expected(isNicer: false), count: 4))
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
            name: "test", computes: true, WorkerThread.Settings(patience: .never))
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
        #expect(seen.withLock { $0 } == [true, false, true, false].map(Niceness.expected))
      }
    }
  }
#endif
