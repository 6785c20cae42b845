#if !canImport(Darwin)
  import CDispatch
  import Dispatch
  import Glibc
  import Locking

  /// A thread with a queue of its own, perhaps nicer than others: it begins with its first job, and ends when it has had
  /// none for some seconds or is closed.
  ///
  /// Not a dispatch queue: libdispatch lends its threads to every queue, and to Swift's pool, so they must
  /// not be made nicer.
  ///
  /// Invariants:
  /// 1. While an item is queued, or ``expect()`` has promised one, `isRunning` is set: there is one thread, or it begins.
  ///    The thread ends by itself only, and leaves no item behind.
  /// 2. `alarm` is signalled after each item that a sleeping thread has to run. One signal too many wakes the thread for
  ///    nothing.
  /// 3. Items run in the order in which they came, one at a time.
  /// 4. A thread only ever becomes nicer, which needs no right.
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

    private enum Action {
      case run(Item)
      case sleep(isExpecting: Bool)
      case end
    }

    private struct State {
      var items: [Item] = []
      var isRunning = false
      var isExpecting = false
      var isClosed = false

      /// - Returns: Whether there was a thread before.
      mutating func noteRunning() -> Bool {
        defer { isRunning = true }
        return isRunning
      }

      mutating func next() -> Action {
        if !items.isEmpty { return .run(items.removeFirst()) }
        if isClosed, endsIdle() { return .end }
        return .sleep(isExpecting: isExpecting)
      }

      /// - Returns: Whether the thread has nothing to do, and ends.
      mutating func endsIdle() -> Bool {
        guard items.isEmpty, !isExpecting else { return false }
        isRunning = false
        return true
      }
    }

    /// By how much a nicer thread is nicer than the main thread, as nice(1) counts.
    ///
    /// On a core that both want it has a quarter of the time (sched(7): a factor of 1.25 for each): it leaves the
    /// frames of a window alone.
    static let niceness: Int32 = 5

    private let name: String
    private let isNicer: Bool
    private let settings: Settings
    private let state = Lock(State())
    private let alarm = DispatchSemaphore(value: 0)

    init(name: String, isNicer: Bool, _ settings: Settings) {
      (self.name, self.isNicer, self.settings) = (name, isNicer, settings)
    }

    /// Sees to it that the thread is there until ``addExpected(_:)``.
    ///
    /// - Returns: Whether it is there; false where the system has no thread left.
    func expect() -> Bool {
      let isRunning = state.withLock { state in
        state.isExpecting = true
        return state.noteRunning()
      }
      return isRunning || begin()
    }

    /// Adds an item, which waits for libdispatch where the system has no thread left.
    func add(_ item: Item) { enqueue { $0.items.append(item) } }

    /// Adds the item that was expected, in one step: no thread ends before it, and none is begun by the calling thread.
    func addExpected(_ item: Item) {
      enqueue { state in
        state.isExpecting = false
        state.items.append(item)
      }
    }

    private func enqueue(_ change: (inout State) -> Void) {
      if rouse(change) { return }
      let isRunning = state.withLock { $0.noteRunning() }
      // libdispatch waits until the system has a thread again, which has no patience: it is needed elsewhere.
      if !isRunning { DispatchQueue(label: name).async { self.serve(patience: .seconds(0)) } }
    }

    /// Adds an item to run before the expected one, whenever the thread is awake.
    func addQuietly(_ item: Item) { state.withLock { $0.items.append(item) } }

    /// Adds an item unless that takes a thread that the system does not have.
    ///
    /// - Returns: Whether the item will run. Nothing else may be added meanwhile.
    func addIfPossible(_ item: Item) -> Bool {
      if rouse({ $0.items.append(item) }) { return true }
      let refused = state.withLock { state in
        defer { state.items = [] }
        return state.items
      }
      // Released here, outside the lock.
      return withExtendedLifetime(refused) { false }
    }

    /// Lets the thread end after its last job.
    func close() {
      state.withLock { $0.isClosed = true }
      alarm.signal()
    }

    /// Changes the queue, and wakes the thread or begins one.
    ///
    /// - Returns: False where the system has no thread left.
    private func rouse(_ change: (inout State) -> Void) -> Bool {
      let isRunning = state.withLock { state in
        change(&state)
        return state.noteRunning()
      }
      guard isRunning else { return begin() }
      alarm.signal()
      return true
    }

    // MARK: The thread

    /// - Returns: Whether there is a thread now. The system may have none left, or no memory; then none is running.
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
            thread.serve(patience: thread.settings.patience)
          }
          return nil
        }, retained.toOpaque())
      guard code != 0 else { return true }
      retained.release()
      state.withLock { $0.isRunning = false }
      return false
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

    /// - Parameter patience: How long the thread stays without an item. It stays for one that is promised.
    private func serve(patience: DispatchTimeInterval) {
      while true {
        switch state.withLock({ $0.next() }) {
        case .run(let item): run(item)
        case .end: return
        case .sleep(let isExpecting):
          let end = isExpecting ? DispatchTime.distantFuture : .now() + patience
          guard alarm.wait(timeout: end) == .timedOut else { continue }
          if state.withLock({ $0.endsIdle() }) { return }
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
#endif
