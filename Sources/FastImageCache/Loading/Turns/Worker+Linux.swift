#if !canImport(Darwin)
  import Glibc

  /// A place for one job at a time of a ``WorkerPool``; `Worker+Apple.swift` has the same face.
  ///
  /// It has a thread for each ``WorkLevel`` that its jobs use, begun with the first such job. A job that
  /// computes does so on a nicer thread, and then finishes on the normal one, which meanwhile had nothing to
  /// do. So the number of workers bounds the number of threads that work.
  ///
  /// Invariants:
  /// 1. No thread is begun by a nicer one: it would be as nice, and an ordinary user cannot raise it.
  ///    Therefore the normal thread is there before the computing step begins, and stays until it has
  ///    finished the job.
  /// 2. The threads refer to the worker only while they have a job of it. Its end ends them.
  final class Worker: Sendable {
    private let normal: WorkerThread
    private let beside: WorkerThread?
    private let behind: WorkerThread?

    /// - Parameters:
    ///   - computes: Whether the first step of jobs runs on nicer threads.
    ///   - settings: Lets tests change how threads begin and end.
    init(name: String, computes: Bool, _ settings: WorkerThread.Settings = .init()) {
      normal = WorkerThread(name: name, .normal, settings)
      beside = computes ? WorkerThread(name: name, .beside, settings) : nil
      behind = computes ? WorkerThread(name: name, .behind, settings) : nil
    }

    deinit {
      normal.close()
      beside?.close()
      behind?.close()
    }

    /// Runs both steps of a job; the worker has no other one.
    func start(_ task: WorkerTask) {
      let level = WorkLevel(computingAt: task.priority)
      guard let nicer = level == .beside ? beside : behind else {
        return normal.add(.both(task))
      }
      normal.expect()
      nicer.add(.compute(task, then: normal))
    }

    /// Runs code that resumes tasks, from within the computing step of a job or from elsewhere: at the
    /// normal level, and before the job finishes.
    static func callOut(_ body: @escaping @Sendable () -> Void) {
      guard let normal = WorkerThread.normalOfComputing else { return body() }
      normal.add(.call(body))
    }
  }
#endif
