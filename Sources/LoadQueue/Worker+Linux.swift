#if !canImport(Darwin)
  import CDispatch
  import Dispatch
  import Glibc
  import Locking

  /// A place for one job at a time of a ``WorkerPool``; `Worker+Apple.swift` has the same face.
  ///
  /// A job that waits rather than computes stays on one thread. Another one computes on a nicer thread, and then
  /// finishes on the normal one, which meanwhile had nothing to do. So the number of workers bounds the number of
  /// threads that work.
  ///
  /// Invariants:
  /// 1. No thread is begun by a nicer one: it would be as nice, and an ordinary user cannot raise it.
  ///    Therefore the normal thread is there before the computing step begins, and stays until it has
  ///    finished the job.
  /// 2. The threads refer to the worker only while they have a job of it. Its end ends them.
  /// 3. No job has one thread and waits until the system has another: where no nicer one can begin, the job stays
  ///    on the normal one.
  package final class Worker: Sendable {
    private let normal: WorkerThread
    private let nicer: WorkerThread?

    /// - Parameters:
    ///   - computes: Whether jobs compute in their first step, rather than wait.
    ///   - settings: Lets tests change how threads begin and end.
    init(name: String, computes: Bool, _ settings: WorkerThread.Settings = .init()) {
      normal = WorkerThread(name: name, isNicer: false, settings)
      nicer = computes ? WorkerThread(name: name, isNicer: true, settings) : nil
    }

    deinit {
      normal.close()
      nicer?.close()
    }

    /// Runs both steps of a job; the worker has no other one.
    func start(_ task: WorkerTask) {
      guard let nicer else { return normal.add(.both(task)) }
      let begins = normal.expect() && nicer.addIfPossible(.compute(task, then: normal))
      if !begins { normal.addExpected(.both(task)) }
    }

    /// Runs code that resumes tasks, from within the computing step of a job or from elsewhere: at the
    /// normal level, and before the job finishes.
    package static func runCallback(_ body: @escaping @Sendable () -> Void) {
      guard let normal = WorkerThread.normalOfComputing else { return body() }
      normal.add(.call(body))
    }

    /// Runs code that takes locks of other loads, before the job finishes at the latest: at once at the normal
    /// level, and else on the normal thread as soon as that is awake, in order with ``runCallback(_:)``.
    package static func beforeFinish(_ body: @escaping @Sendable () -> Void) {
      guard let normal = WorkerThread.normalOfComputing else { return body() }
      normal.addQuietly(.call(body))
    }
  }

  /// A thread with a queue of its own, perhaps nicer than others: it begins with its first job, and ends when it has
  /// had none for some seconds or is closed.
  ///
  /// Not a dispatch queue: libdispatch lends its threads to every queue, and to Swift's pool, so they must
  /// not be made nicer.
  ///
  /// Invariants:
  /// 1. Jobs are handed over under the lock of `lifecycle`; `alarm` only wakes. One signal too many wakes the
  ///    thread for nothing.
  /// 2. A thread only ever becomes nicer, which needs no right.
  final class WorkerThread: Sendable {
    enum Item: Sendable {
      case both(WorkerTask)
      case compute(WorkerTask, then: WorkerThread)
      case finish(WorkerTask)
      case call(@Sendable () -> Void)
    }

    struct Settings: Sendable {
      /// How long a thread without a job stays: as long as those of libdispatch.
      var patience = DispatchTimeInterval.seconds(5)
      /// `nil` for the system's choice; for a nicer thread, or another one.
      var stackByteCount: @Sendable (_ isNicer: Bool) -> Int? = { _ in nil }
    }

    /// By how much a nicer thread is nicer than the main thread, as nice(1) counts.
    ///
    /// On a core that both want it has a quarter of the time (sched(7): a factor of 1.25 for each): it leaves the
    /// frames of a window alone.
    static let niceness: Int32 = 5

    private let name: String
    private let isNicer: Bool
    private let settings: Settings
    private let lifecycle = Lock(ThreadLifecycle<Item>())
    private let alarm = DispatchSemaphore(value: 0)

    init(name: String, isNicer: Bool, _ settings: Settings) {
      (self.name, self.isNicer, self.settings) = (name, isNicer, settings)
    }

    /// Sees to it that the thread is there until ``addExpected(_:)``.
    ///
    /// - Returns: Whether it is there; false where the system has no thread left.
    func expect() -> Bool { attempt(lifecycle.withLock { $0.expect() }) }

    /// Adds an item, which waits for libdispatch where the system has no thread left.
    func add(_ item: Item) { perform(lifecycle.withLock { $0.add(item) }) }

    /// Adds the item that was expected.
    func addExpected(_ item: Item) {
      perform(lifecycle.withLock { $0.add(item, isExpected: true) })
    }

    /// Adds an item to run before the expected one, whenever the thread is awake.
    func addQuietly(_ item: Item) { lifecycle.withLock { $0.addQuietly(item) } }

    /// Adds an item unless that takes a thread that the system does not have.
    ///
    /// - Returns: Whether the item will run. Nothing else may be added meanwhile.
    func addIfPossible(_ item: Item) -> Bool { attempt(lifecycle.withLock { $0.add(item) }) }

    /// Lets the thread end after its last job.
    func close() { perform(lifecycle.withLock { $0.close() }) }

    private func attempt(_ call: ThreadLifecycle<Item>.Call) -> Bool {
      guard case .begin = call else {
        perform(call)
        return true
      }
      if begin() { return true }
      // Released here, outside the lock.
      _ = lifecycle.withLock { $0.takeBack() }
      return false
    }

    private func perform(_ call: ThreadLifecycle<Item>.Call) {
      switch call {
      case .nothing: break
      case .wake: alarm.signal()
      case .begin:
        // libdispatch waits until the system has a thread again.
        if !begin() { DispatchQueue(label: name).async { self.serveOnLentThread() } }
      }
    }

    // MARK: The thread

    /// - Returns: Whether there is a thread now. The system may have none left, or no memory.
    private func begin() -> Bool {
      var attributes = pthread_attr_t()
      pthread_attr_init(&attributes)
      defer { pthread_attr_destroy(&attributes) }
      pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
      if let size = settings.stackByteCount(isNicer) {
        pthread_attr_setstacksize(&attributes, size)
      }
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
      if code != 0 { retained.release() }
      return code == 0
    }

    private func settle() {
      Self.setSignals()
      showName()
      guard isNicer else { return }
      // That of the main thread, whichever thread began this one; 0 is the calling thread.
      let oneThread = __priority_which_t(PRIO_PROCESS.rawValue)
      let main = getpriority(oneThread, id_t(getpid()))
      let niceness = min(main + Self.niceness, 19)
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
    /// upon itself: a fault guard wants them, whatever the thread that began this one had blocked.
    private static func setSignals() {
      var signals = sigset_t()
      sigfillset(&signals)
      for own in [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPROF] {
        sigdelset(&signals, own)
      }
      pthread_sigmask(SIG_SETMASK, &signals, nil)
    }

    private func serve() {
      var turn = lifecycle.withLock { $0.next() }
      while true {
        switch turn {
        case .run(let item): run(item)
        case .sleep: break
        case .end: return
        }
        if case .sleep = turn, alarm.wait(timeout: .now() + settings.patience) == .timedOut {
          turn = lifecycle.withLock { $0.nextAfterTimeout() }
        } else {
          turn = lifecycle.withLock { $0.next() }
        }
      }
    }

    /// Runs what there is on a thread of libdispatch, which needs it elsewhere: no patience here.
    private func serveOnLentThread() {
      while true {
        switch lifecycle.withLock({ $0.nextAfterTimeout() }) {
        case .run(let item): run(item)
        // A job is promised, and nobody else would run it.
        case .sleep: alarm.wait()
        case .end: return
        }
      }
    }

    private func run(_ item: Item) {
      switch item {
      case .both(let task):
        task.job.compute()
        task.job.finish(task)
      case .compute(let task, let normal):
        Self.whileComputing(before: normal) { task.job.compute() }
        normal.addExpected(.finish(task))
      case .finish(let task): task.job.finish(task)
      case .call(let body): body()
      }
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
      defer { pthread_setspecific(key, nil) }
      body()
    }
  }

  /// Decides when a thread with a queue of its own begins, sleeps and ends; it performs nothing itself.
  ///
  /// Invariants:
  /// 1. There is one thread, awake, asleep or begun, while a job is queued or ``expect()`` has promised one.
  /// 2. The thread ends by itself only, and leaves no job behind.
  /// 3. Jobs run in the order in which they came, one at a time.
  struct ThreadLifecycle<Job: Sendable>: Sendable {
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
#endif
