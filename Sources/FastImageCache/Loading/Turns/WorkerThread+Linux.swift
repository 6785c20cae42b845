#if !canImport(Darwin)
  import CDispatch
  import Dispatch
  import Glibc
  import Locking

  /// A thread of one level, with a queue of its own: it begins with its first job, and ends when it has had
  /// none for some seconds or is closed.
  ///
  /// Not a dispatch queue: libdispatch lends its threads to every queue, and to Swift's pool, so they must
  /// not be made nicer.
  ///
  /// Invariants:
  /// 1. Jobs are handed over under the lock of `course`; `alarm` only wakes. One signal too many wakes the
  ///    thread for nothing.
  /// 2. A thread only ever becomes nicer, which needs no right.
  final class WorkerThread: Sendable {
    enum Item: Sendable {
      case both(WorkerTask, notedIn: Lock<Crowding>?)
      case compute(WorkerTask, then: WorkerThread, notedIn: Lock<Crowding>)
      case finish(WorkerTask)
      case call(@Sendable () -> Void)
    }

    struct Settings: Sendable {
      /// How long a thread without a job stays: as long as those of libdispatch.
      var patience = DispatchTimeInterval.seconds(5)
      /// `nil` for the system's choice.
      var stackByteCount: Int?
    }

    private let name: String
    private let level: WorkLevel
    private let settings: Settings
    private let course = Lock(ThreadCourse<Item>())
    private let alarm = DispatchSemaphore(value: 0)

    init(name: String, _ level: WorkLevel, _ settings: Settings) {
      (self.name, self.level, self.settings) = (name, level, settings)
    }

    /// Sees to it that the thread is there until ``finish(_:)``.
    func expect() { perform(course.withLock { $0.expect() }) }

    func add(_ item: Item) { perform(course.withLock { $0.add(item) }) }

    /// Adds the step that was expected.
    private func finish(_ task: WorkerTask) {
      perform(course.withLock { $0.add(.finish(task), isExpected: true) })
    }

    /// Lets the thread end after its last job.
    func close() { perform(course.withLock { $0.close() }) }

    private func perform(_ call: ThreadCourse<Item>.Call) {
      switch call {
      case .nothing: break
      case .wake: alarm.signal()
      case .begin: begin()
      }
    }

    // MARK: The thread

    private func begin() {
      var attributes = pthread_attr_t()
      pthread_attr_init(&attributes)
      defer { pthread_attr_destroy(&attributes) }
      pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
      if let size = settings.stackByteCount { pthread_attr_setstacksize(&attributes, size) }
      var thread = pthread_t()
      // Retained here and released by the new thread, or below if there is none.
      let retained = Unmanaged.passRetained(self)
      let code = pthread_create(
        &thread, &attributes,
        { argument in
          if let argument {
            let thread = Unmanaged<WorkerThread>.fromOpaque(argument).takeRetainedValue()
            thread.settle()
            thread.serve()
          }
          return nil
        }, retained.toOpaque())
      guard code != 0 else { return }
      retained.release()
      // The system has no thread left, or no memory. libdispatch waits until there is one.
      DispatchQueue(label: name).async { self.serve() }
    }

    private func settle() {
      Self.blockSignals()
      showName()
      guard level != .normal else { return }
      // That of the main thread, whichever thread began this one; 0 is the calling thread.
      let oneThread = __priority_which_t(PRIO_PROCESS.rawValue)
      let main = getpriority(oneThread, id_t(getpid()))
      let niceness = min(main + level.niceness, 19)
      // Cannot fail: it is no less nice than before.
      if niceness > getpriority(oneThread, 0) { setpriority(oneThread, 0, niceness) }
    }

    /// Tells debuggers the name, of which Linux keeps fifteen bytes: without that of the library.
    private func showName() {
      let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { return }
      var ownName = Substring(name.split(separator: ".").last ?? "")
      _ = ownName.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) }
      Glibc.close(file)
    }

    /// Leaves signals to the program's own threads, as libdispatch does, but for those that a thread brings
    /// upon itself: a fault guard wants them.
    private static func blockSignals() {
      var signals = sigset_t()
      sigfillset(&signals)
      for own in [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPROF] {
        sigdelset(&signals, own)
      }
      pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func serve() {
      var turn = course.withLock { $0.next() }
      while true {
        switch turn {
        case .run(let item): run(item)
        case .sleep: break
        case .end: return
        }
        if case .sleep = turn, alarm.wait(timeout: .now() + settings.patience) == .timedOut {
          turn = course.withLock { $0.nextAfterTimeout() }
        } else {
          turn = course.withLock { $0.next() }
        }
      }
    }

    private func run(_ item: Item) {
      switch item {
      case .both(let task, let crowding):
        if let crowding { compute(task, crowding) } else { task.job.compute() }
        task.job.finish(task)
      case .compute(let task, let normal, let crowding):
        Self.whileComputing(before: normal) { compute(task, crowding) }
        normal.finish(task)
      case .finish(let task): task.job.finish(task)
      case .call(let body): body()
      }
    }

    private func compute(_ task: WorkerTask, _ crowding: Lock<Crowding>) {
      let (begin, processorTime) = (ContinuousClock.now, ThreadTime.now)
      task.job.compute()
      let (worked, now) = (ThreadTime.now - processorTime, ContinuousClock.now)
      crowding.withLock { $0.computed(for: worked, in: now - begin, at: now) }
    }

    // MARK: Which thread computes

    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let code = pthread_key_create(&key, nil)
      precondition(code == 0, "pthread_key_create(3) failed with \(code).")
      return key
    }()

    /// The thread that will finish the job whose computing step the calling thread runs; `nil` elsewhere.
    static var normalOfComputing: WorkerThread? {
      pthread_getspecific(key).map {
        Unmanaged<WorkerThread>.fromOpaque($0).takeUnretainedValue()
      }
    }

    private static func whileComputing(before normal: WorkerThread, _ body: () -> Void) {
      // Unretained is safe: the item that is being run holds `normal`, and the note ends before it.
      pthread_setspecific(key, Unmanaged.passUnretained(normal).toOpaque())
      body()
      pthread_setspecific(key, nil)
    }
  }
#endif
