#if !canImport(Darwin)
  import Locking

  /// A place for one job at a time of a ``WorkerPool``; `Worker+Apple.swift` has the same face.
  ///
  /// It has a thread for each ``WorkLevel`` that its jobs use, begun with the first such job. A job of the
  /// normal level stays on one thread. Another one computes on a nicer thread, and then finishes on the normal
  /// one, which meanwhile had nothing to do. So the number of workers bounds the number of threads that work.
  ///
  /// Invariants:
  /// 1. No thread is begun by a nicer one: it would be as nice, and an ordinary user cannot raise it.
  ///    Therefore the normal thread is there before the computing step begins, and stays until it has
  ///    finished the job.
  /// 2. The threads refer to the worker only while they have a job of it. Its end ends them.
  /// 3. No job has one thread and waits until the system has another: where no nicer one can begin, the job stays
  ///    on the normal one.
  final class Worker: Sendable {
    /// For jobs that compute.
    private struct Computing {
      let beside: WorkerThread
      let behind: WorkerThread
      /// Shared by the workers of a pool.
      let crowding: Lock<Crowding>

      var threads: [WorkerThread] { [beside, behind] }
    }

    private let normal: WorkerThread
    private let computing: Computing?

    /// - Parameters:
    ///   - crowding: Tells at which level jobs compute; `nil` for jobs that wait rather than compute.
    ///   - settings: Lets tests change how threads begin and end.
    init(
      name: String, computingIn crowding: Lock<Crowding>?,
      _ settings: WorkerThread.Settings = .init()
    ) {
      normal = WorkerThread(name: name, .normal, settings)
      computing = crowding.map {
        Computing(
          beside: WorkerThread(name: name, .beside, settings),
          behind: WorkerThread(name: name, .behind, settings), crowding: $0)
      }
    }

    deinit {
      normal.close()
      for thread in computing?.threads ?? [] { thread.close() }
    }

    /// Runs both steps of a job; the worker has no other one.
    func start(_ task: WorkerTask) {
      guard let computing else { return normal.add(.both(task, notedIn: nil)) }
      let (crowding, now) = (computing.crowding, ContinuousClock.now)
      switch crowding.withLock({ $0.level(for: task.priority, at: now) }) {
      case .normal: normal.add(.both(task, notedIn: crowding))
      case .beside: start(task, on: computing.beside, notedIn: crowding)
      case .behind: start(task, on: computing.behind, notedIn: crowding)
      }
    }

    private func start(
      _ task: WorkerTask, on nicer: WorkerThread, notedIn crowding: Lock<Crowding>
    ) {
      let begins =
        normal.expect() && nicer.addIfPossible(.compute(task, then: normal, notedIn: crowding))
      if !begins { normal.addExpected(.both(task, notedIn: crowding)) }
    }

    /// Runs code that resumes tasks, from within the computing step of a job or from elsewhere: at the
    /// normal level, and before the job finishes.
    static func callOut(_ body: @escaping @Sendable () -> Void) {
      guard let normal = WorkerThread.normalOfComputing else { return body() }
      normal.add(.call(body))
    }

    /// Runs code that takes locks of other loads, before the job finishes at the latest: at once at the normal
    /// level, and else on the normal thread as soon as that is awake, in order with ``callOut(_:)``.
    static func beforeFinish(_ body: @escaping @Sendable () -> Void) {
      guard let normal = WorkerThread.normalOfComputing else { return body() }
      normal.addQuietly(.call(body))
    }
  }
#endif
