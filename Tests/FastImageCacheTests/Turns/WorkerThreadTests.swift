#if os(Linux)
  import CTestProbes
  import Dispatch
  import Foundation
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache

  /// A job that tells where its steps run.
  private final class Probe: WorkerJob {
    private let computing: @Sendable () -> Void
    private let finishing: @Sendable () -> Void

    init(
      computing: @escaping @Sendable () -> Void = {}, finishing: @escaping @Sendable () -> Void = {}
    ) {
      (self.computing, self.finishing) = (computing, finishing)
    }

    func compute() { computing() }
    func finish(_ task: WorkerTask) { finishing() }
  }

  extension Worker {
    fileprivate func start(_ job: Probe, _ priority: Priority = .high) {
      var admission = Admission(width: 1, byteBudget: 0)
      start(WorkerTask(job: job, id: admission.makeJobID(), priority: priority, worker: self))
    }
  }

  /// How nice threads are. Other tests have decoders that resume tasks, so libdispatch's threads may be nicer
  /// than the main one in this process; a new thread is at least as nice as the one that begins it.
  private struct Niceness {
    private static let oneThread = __priority_which_t(PRIO_PROCESS.rawValue)
    static var ofThisThread: Int32 { getpriority(oneThread, 0) }

    /// Of the thread that begins others.
    let normal = Self.ofThisThread

    func expected(_ level: WorkLevel) -> Int32 {
      max(normal, min(getpriority(Self.oneThread, id_t(getpid())) + level.niceness, 19))
    }

    /// False for a right that nobody has here.
    static func mayBecomeLessNice() -> Bool { setpriority(oneThread, 0, ofThisThread - 1) == 0 }
  }

  /// Counts the ends of the threads that run `note`: the C library calls a key's destructor then.
  private final class Ends: Sendable {
    let count = Counter()
    private let key: pthread_key_t

    init() {
      var key = pthread_key_t()
      let code = pthread_key_create(&key) { value in
        if let value { Unmanaged<Counter>.fromOpaque(value).takeRetainedValue().increment() }
      }
      precondition(code == 0)
      self.key = key
    }

    deinit { pthread_key_delete(key) }

    func note() {
      guard pthread_getspecific(key) == nil else { return }
      pthread_setspecific(key, Unmanaged.passRetained(count).toOpaque())
    }
  }

  @Suite("A worker's threads", .timeLimit(.minutes(10)))
  struct WorkerThreadTests {
    @Test(
      "compute 5 or 10 nicer than the main one on shared cores, by the priority, and finish normally"
    )
    func levels() async {
      let worker = Worker(
        name: "test", computingIn: Lock(.always), WorkerThread.Settings(patience: .never))
      let (seen, done) = (Lock<[Int32]>([]), Counter())
      let note = { @Sendable in seen.withLock { $0.append(Niceness.ofThisThread) } }
      let niceness = Niceness()
      let priorities = [Priority.high, .low, .medium, .background]
      for (index, priority) in priorities.enumerated() {
        worker.start(
          Probe(computing: note) {
            note()
            done.increment()
          }, priority)
        await done.reaches(index + 1)
      }
      let levels: [WorkLevel] = [
        .beside, .normal, .behind, .normal, .beside, .normal, .behind, .normal,
      ]
      #expect(seen.withLock { $0 } == levels.map(niceness.expected))
    }

    @Test("are not nicer where jobs wait rather than compute, whatever their priority")
    func waiting() async {
      let worker = Worker(
        name: "test", computingIn: nil, WorkerThread.Settings(patience: .never))
      let (seen, done) = (Lock<[Int32]>([]), Counter())
      let niceness = Niceness()
      for (index, priority) in [Priority.low, .high].enumerated() {
        worker.start(
          Probe(computing: { seen.withLock { $0.append(Niceness.ofThisThread) } }) {
            done.increment()
          }, priority)
        await done.reaches(index + 1)
      }
      #expect(seen.withLock { $0 } == [niceness.normal, niceness.normal])
    }

    @Test("stay on one thread, which is not nicer, where cores are not shared")
    func calm() async {
      let worker = Worker(
        name: "test", computingIn: Lock(Crowding()), WorkerThread.Settings(patience: .never))
      let (seen, done) = (Lock<[Int32]>([]), Counter())
      let niceness = Niceness()
      let thread = Lock<pthread_t?>(nil)
      worker.start(
        Probe(computing: {
          seen.withLock { $0.append(Niceness.ofThisThread) }
          thread.withLock { $0 = pthread_self() }
        }) {
          #expect(thread.withLock { $0 } == pthread_self())
          done.increment()
        }, .medium)
      await done.reaches(1)
      #expect(seen.withLock { $0 } == [niceness.normal])
    }

    @Test("become nicer when a job has had to wait for its core")
    func becomesNicer() async {
      let crowding = Lock(Crowding())
      let worker = Worker(name: "test", computingIn: crowding)
      let (gate, begun, done) = (Gate(), Counter(), Counter())
      // A thread that waits at a gate looks like one that waits for a core.
      worker.start(
        Probe(computing: {
          begun.increment()
          gate.waitBlocking()
        }) { done.increment() })
      await begun.reaches(1)
      let begin = ContinuousClock.now
      while ContinuousClock.now - begin < .milliseconds(2) { await Task.yield() }
      #expect(crowding.withLock { $0.level(for: .high, at: .now) } == .normal)
      gate.open()
      await done.reaches(1)
      #expect(crowding.withLock { $0.level(for: .high, at: begin) } == .beside)
    }

    @Test("do the same for an ordinary user, who cannot take anything back")
    func ordinaryUser() async {
      let (seen, expected) = (Lock<[Int32]>([]), Lock<[Int32]>([]))
      let (may, done) = (Lock<[Bool]>([]), Counter())
      Thread.detachNewThread {
        // Of this thread only; those that it begins are as ordinary.
        guard probe_become_ordinary() == 0 else { return done.end() }
        let worker = Worker(
          name: "test", computingIn: Lock(.always), WorkerThread.Settings(patience: .never))
        let niceness = Niceness()
        expected.withLock {
          $0 = [.behind, .normal, .beside, .normal].map(niceness.expected)
        }
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
      #expect(seen.withLock { $0 } == expected.withLock { $0 })
    }

    @Test("call out at the normal level, in order and before the job finishes")
    func callOut() async {
      let worker = Worker(name: "test", computingIn: Lock(.always))
      let (seen, order, done) = (Lock<[Int32]>([]), Order(), Counter())
      let normal = Niceness().normal
      worker.start(
        Probe(computing: {
          for note in ["first", "second"] {
            Worker.callOut {
              seen.withLock { $0.append(Niceness.ofThisThread) }
              order.note(note)
            }
          }
        }) {
          order.note("finish")
          // Not while a thread computes: there and then.
          Worker.callOut { order.note("at once") }
          order.note("end")
          done.increment()
        })
      await done.reaches(1)
      #expect(order.notes == ["first", "second", "finish", "at once", "end"])
      #expect(seen.withLock { $0 } == [normal, normal])
    }

    @Test("end with their worker")
    func endWithWorker() async {
      let (ends, done) = (Ends(), Counter())
      do {
        let worker = Worker(
          name: "test", computingIn: Lock(.always), WorkerThread.Settings(patience: .never))
        for priority in [Priority.high, .low] {
          worker.start(
            Probe(computing: { ends.note() }) {
              ends.note()
              done.increment()
            }, priority)
          await done.reaches(priority == .high ? 1 : 2)
        }
      }
      await ends.count.reaches(3)
    }

    @Test("end when they have had no work for long, and others begin with the next job")
    func endWithoutWork() async {
      let ends = Ends()
      let worker = Worker(
        name: "test", computingIn: Lock(.always), WorkerThread.Settings(patience: .nanoseconds(1)))
      for count in 1...20 {
        worker.start(Probe(computing: { ends.note() }) { ends.note() })
        await ends.count.reaches(2 * count)
      }
    }

    @Test("are replaced by libdispatch's where the system has none left")
    func noThread() async {
      let worker = Worker(
        name: "test", computingIn: Lock(.always), WorkerThread.Settings(stackByteCount: 1 << 60))
      let (ran, done) = (Counter(), Counter())
      for count in 1...3 {
        worker.start(
          Probe(computing: { ran.increment() }) { done.increment() }, count == 2 ? .low : .high)
        await done.reaches(count)
      }
      #expect(ran.value == 3)
    }

    @Test("leave signals to the program's threads, but for faults of their own")
    func signals() async {
      let worker = Worker(name: "test", computingIn: Lock(.always))
      let (blocked, done) = (Lock<[[Bool]]>([]), Counter())
      let note = { @Sendable in
        var signals = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &signals)
        let members = [SIGINT, SIGTERM, SIGBUS, SIGSEGV].map { sigismember(&signals, $0) == 1 }
        blocked.withLock { $0.append(members) }
      }
      Thread.detachNewThread {
        // A new thread has the mask of the one that begins it, and libdispatch's block nearly all.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        worker.start(
          Probe(computing: note) {
            note()
            done.increment()
          })
      }
      await done.reaches(1)
      #expect(blocked.withLock { $0 } == Array(repeating: [true, true, false, false], count: 2))
    }

    @Test("bear a name in debuggers")
    func name() async {
      let worker = Worker(name: "FastImageCache.stored-files 12", computingIn: nil)
      let (name, done) = (Lock<String?>(nil), Counter())
      worker.start(
        Probe(computing: {
          let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
          name.withLock { $0 = text }
        }) { done.increment() })
      await done.reaches(1)
      #expect(name.withLock { $0 } == "stored-files 12\n")
    }
  }
#endif
