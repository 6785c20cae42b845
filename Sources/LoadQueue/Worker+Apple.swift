#if canImport(Darwin)
  import Dispatch

  /// A place for one job at a time of a ``WorkerPool``; `Worker+Linux.swift` has the same face.
  ///
  /// It is a serial dispatch queue: it has a thread as long as it works and none when it is idle. The jobs
  /// of a concurrent queue would share the system's pool, where a few blocking calls hold up all other
  /// tasks. The quality of service says how the thread ranks, and the system raises it again by itself.
  package final class Worker: Sendable {
    private let queue: DispatchQueue

    /// - Parameter computes: Makes no difference here: each job brings its quality of service.
    init(name: String, computes: Bool) { queue = DispatchQueue(label: name) }

    /// Runs both steps of a job; the worker has no other one.
    func start(_ task: WorkerTask) {
      queue.async(qos: DispatchQoS(task.priority), flags: .enforceQoS) {
        task.job.compute()
        task.job.finish(task)
      }
    }

    /// Runs code that resumes tasks, from within the computing step of a job or from elsewhere.
    package static func runCallback(_ body: @escaping @Sendable () -> Void) { body() }

    /// Runs code that takes locks of other loads, before the job finishes at the latest.
    package static func beforeFinish(_ body: @escaping @Sendable () -> Void) { body() }
  }

  extension DispatchQoS {
    fileprivate init(_ priority: Priority) {
      switch priority {
      case .high...: self = .userInitiated
      case .medium...: self = .default
      case .low...: self = .utility
      default: self = .background
      }
    }
  }
#endif
