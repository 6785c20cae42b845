#if os(Linux)
  import CTestProbes
  import Dispatch
  import Foundation
  import Glibc
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import LoadQueue

  /// A job that tells where its steps run.
  final class Probe: WorkerJob {
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
    func start(_ job: Probe, _ priority: Priority = .high) {
      var admission = Admission(width: 1, byteBudget: 0)
      start(WorkerTask(job: job, id: admission.makeJobID(), priority: priority, worker: self))
    }
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
    @Test("call out on the thread that finishes, in order and before the job does")
    func runCallback() async {
      let worker = Worker(name: "test", computes: true)
      let (threads, order, done) = (Lock<[pthread_t]>([]), Order(), Counter())
      let note = { @Sendable (text: String) in
        threads.withLock { $0.append(pthread_self()) }
        order.note(text)
      }
      worker.start(
        Probe(computing: {
          Worker.beforeFinish { note("quietly") }
          Worker.runCallback { note("aloud") }
          Worker.beforeFinish { note("quietly again") }
        }) {
          note("finish")
          // Not while a thread computes: there and then.
          Worker.runCallback { note("at once") }
          Worker.beforeFinish { note("at once too") }
          note("end")
          done.increment()
        })
      await done.reaches(1)
      #expect(
        order.notes == [
          "quietly", "aloud", "quietly again", "finish", "at once", "at once too", "end",
        ])
      let found = threads.withLock { $0 }
      #expect(found.allSatisfy { $0 == found[0] })
    }

    @Test("compute without the locks of a load and of the cache's counts, which others may hold")
    func locks() async {
      let worker = Worker(name: "test", computes: true)
      let progress = LoadProgress(clock: ContinuousClock())
      let recorder = CacheRecorder()
      let (held, door, computed, done) = (Counter(), Gate(), Counter(), Counter())
      let drawings = Lock<[Int]>([])
      let note = { @Sendable in
        let count = recorder.counts.drawings
        drawings.withLock { $0.append(count) }
      }
      Thread.detachNewThread {
        progress.measure { _ in
          held.increment()
          door.waitBlocking()
        }
      }
      await held.reaches(1)
      worker.start(
        Probe(computing: {
          progress.report(.decoding)
          progress.measureOnWorker { $0.decode += .seconds(1) }
          recorder.drew(in: .seconds(1))
          note()
          computed.increment()
        }) {
          note()
          done.increment()
        })
      await computed.reaches(1)
      door.open()
      await done.reaches(1)
      #expect(drawings.withLock { $0 } == [0, 1])
      #expect(progress.metered.meter.decode == .seconds(1))
    }

    @Test("end with their worker")
    func endWithWorker() async {
      let (ends, done) = (Ends(), Counter())
      do {
        let worker = Worker(
          name: "test", computes: true, WorkerThread.Settings(patience: .never))
        for priority in [Priority.high, .low] {
          worker.start(
            Probe(computing: { ends.note() }) {
              ends.note()
              done.increment()
            }, priority)
          await done.reaches(priority == .high ? 1 : 2)
        }
      }
      await ends.count.reaches(2)
    }

    @Test("end when they have had no work for long, and others begin with the next job")
    func endWithoutWork() async {
      let ends = Ends()
      let worker = Worker(
        name: "test", computes: true, WorkerThread.Settings(patience: .nanoseconds(1)))
      for count in 1...20 {
        worker.start(Probe(computing: { ends.note() }) { ends.note() })
        await ends.count.reaches(2 * count)
      }
    }

    @Test("are replaced by libdispatch's where the system has none left")
    func noThread() async {
      let worker = Worker(
        name: "test", computes: true,
        WorkerThread.Settings(stackByteCount: { _ in 1 << 60 }))
      let (ran, done) = (Counter(), Counter())
      for count in 1...3 {
        worker.start(
          Probe(computing: { ran.increment() }) { done.increment() }, count == 2 ? .low : .high)
        await done.reaches(count)
      }
      #expect(ran.value == 3)
    }

    @Test(
      "run jobs on the normal one where there is no nicer one",
      arguments: [Priority.low, .high])
    func oneThread(priority: Priority) async {
      let worker = Worker(
        name: "x.only", computes: true,
        WorkerThread.Settings(
          patience: .never, stackByteCount: { $0 ? 1 << 60 : nil }))
      let (names, done) = (Lock<[String]>([]), Counter())
      let note = { @Sendable in
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        names.withLock { $0.append(name ?? "") }
      }
      for count in 1...2 {
        worker.start(
          Probe(computing: {
            note()
            // There is no other thread that would run it before the job finishes.
            Worker.beforeFinish(note)
          }) {
            note()
            done.increment()
          }, priority)
        await done.reaches(count)
      }
      #expect(names.withLock { $0 } == Array(repeating: "only\n", count: 6))
    }

    @Test("give libdispatch's back at once")
    func returnsLentThread() async {
      final class Farewell: Sendable {
        let count = Counter()
        deinit { count.increment() }
      }
      let gone = { () -> Counter in
        let farewell = Farewell()
        let settings = WorkerThread.Settings(
          patience: .never,
          stackByteCount: { _ in withExtendedLifetime(farewell) { 1 << 60 } })
        WorkerThread(name: "test", isNicer: false, settings).add(.call({}))
        return farewell.count
      }()
      // The thread's object, and its settings with it, is kept for as long as a thread serves it.
      await gone.reaches(1)
    }

    @Test("leave the program its signals, but for faults of their own", arguments: [false, true])
    func signals(beginnerBlocksAll: Bool) async {
      let worker = Worker(name: "test", computes: true)
      let (blocked, done) = (Lock<[[Bool]]>([]), Counter())
      let note = { @Sendable in
        var signals = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &signals)
        let members = [SIGINT, SIGTERM, SIGBUS, SIGSEGV].map { sigismember(&signals, $0) == 1 }
        blocked.withLock { $0.append(members) }
      }
      Thread.detachNewThread {
        // A new thread has the mask of the one that begins it.
        var signals = sigset_t()
        if beginnerBlocksAll { sigfillset(&signals) } else { sigemptyset(&signals) }
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        worker.start(
          Probe(computing: note) {
            note()
            done.increment()
          })
      }
      await done.reaches(1)
      #expect(blocked.withLock { $0 } == Array(repeating: [true, true, false, false], count: 2))
    }
  }

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
    @Test("is 5 above the main one's for computing, whatever the priority, and the main one's else")
    func computing() async {
      await #expect(processExitsWith: .success) {
        for computes in [true, false] {
          let worker = Worker(
            name: "test", computes: computes, WorkerThread.Settings(patience: .never))
          let found = await steps(of: [.high, .low, .medium, .background], on: worker)
          // Where jobs wait rather than compute, no step is nicer.
          let each = [computes, false].map(Niceness.expected)
          #expect(found == each + each + each + each)
        }
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

  @Suite("A cache's threads", .timeLimit(.minutes(10)))
  struct CacheThreadTests {
    /// Whether the calling thread runs the computing step of a job.
    private static var computes: Bool { WorkerThread.normalOfComputing != nil }

    @Test("decode in the computing step, and answer, report and tell events outside it")
    func load() async throws {
      let decodes = Lock<[Bool]>([])
      let decoder = SketchDecoder(willDecode: { decodes.withLock { $0.append(Self.computes) } })
      let sketch = try await SketchFixture(decoder: decoder)
      let cache = sketch.cache
      // Of low priority, to have a computing step on a thread of its own. Each reader goes on where its reader is told.
      let (steps, events) = (Lock<[String: Bool]>([:]), Lock<[String: Bool]>([:]))
      var low = LoadOptions()
      low.priority = RequestPriority(.low)
      let options = low
      let progress = cache.progress(for: Photo("1"), format: .row, options: options)
      let told = cache.events(bufferSize: 100)
      async let reading: Void = InlineExecutor.run {
        for await step in progress {
          steps.withLock { $0["\(step)"] = Self.computes }
        }
      }
      async let hearing: Void = InlineExecutor.run {
        for await event in told {
          if case .decoded = event { events.withLock { $0["decoded"] = Self.computes } }
          if case .stored = event { return }
        }
      }
      async let answering: Void = InlineExecutor.run {
        _ = try await cache.image(for: Photo("1"), format: .row, options: options)
        #expect(!Self.computes)
      }
      await sketch.fixture.subscribers(2)
      sketch.finish()
      _ = try await (reading, hearing, answering)
      #expect(decodes.withLock { $0 } == [true])
      #expect(steps.withLock { [$0["decoding"], $0["drawing"]] } == [false, false])
      #expect(events.withLock { $0 } == ["decoded": false])
    }

    @Test("draw previews on a nicer thread, and show them on another one")
    func preview() async throws {
      let (nicenesses, shown) = (Lock<[Int32]>([]), Counter())
      let oneThread = __priority_which_t(PRIO_PROCESS.rawValue)
      let decoder = SketchDecoder(willEnd: { _ in
        nicenesses.withLock { $0.append(Self.computes ? getpriority(oneThread, 0) : -20) }
      })
      let sketch = try await SketchFixture(decoder: decoder)
      let steps = sketch.cache.progress(
        for: Photo("1"), format: .row, options: .previewing)
      async let reading: Void = InlineExecutor.run {
        for await step in steps where step.preview != nil {
          #expect(!Self.computes)
          shown.increment()
        }
      }
      await sketch.fixture.subscribers(1)
      await sketch.step(100)
      await shown.reaches(1)
      sketch.finish()
      try await reading
      let main = getpriority(oneThread, id_t(getpid()))
      let seen = nicenesses.withLock { $0 }
      #expect(
        seen.count == 1 && seen.allSatisfy { $0 >= min(main + WorkerThread.niceness, 19) })
    }
  }
#endif
