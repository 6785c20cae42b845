#if !canImport(Darwin)
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
    package static func callOut(_ body: @escaping @Sendable () -> Void) {
      guard let normal = WorkerThread.normalOfComputing else { return body() }
      normal.add(.call(body))
    }

    /// Runs code that takes locks of other loads, before the job finishes at the latest: at once at the normal
    /// level, and else on the normal thread as soon as that is awake, in order with ``callOut(_:)``.
    package static func beforeFinish(_ body: @escaping @Sendable () -> Void) {
      guard let normal = WorkerThread.normalOfComputing else { return body() }
      normal.addQuietly(.call(body))
    }
  }
#endif
