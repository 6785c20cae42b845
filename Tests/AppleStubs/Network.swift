public import Dispatch

public struct NWPath: Sendable {
  public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
  public let status: NWPath.Status
  public let isConstrained: Bool
}

/// `@unchecked Sendable` is Apple's promise. Here the tests use it on the main thread.
public final class NWPathMonitor: @unchecked Sendable {
  /// The monitors that were started; for tests.
  nonisolated(unsafe) public static var _started: [NWPathMonitor] = []

  public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
  public init() {}
  public func start(queue: DispatchQueue) { Self._started.append(self) }
  public func cancel() {}

  /// Reports a path, as the system does.
  public func _report(_ status: NWPath.Status, isConstrained: Bool = false) {
    pathUpdateHandler?(NWPath(status: status, isConstrained: isConstrained))
  }
}
