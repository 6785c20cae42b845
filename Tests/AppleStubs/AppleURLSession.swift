// What Apple's Foundation has of URL sessions, and the one for Linux lacks.

public import Foundation
public import FoundationNetworking
public import Security

extension URLRequest {
  public var allowsConstrainedNetworkAccess: Bool {
    get { true }
    set {}
  }
  public var allowsExpensiveNetworkAccess: Bool {
    get { true }
    set {}
  }
}

extension URLError {
  public enum NetworkUnavailableReason: Int, Hashable, Sendable {
    case cellular, expensive, constrained
  }
  public var networkUnavailableReason: NetworkUnavailableReason? { nil }
}

extension URLProtectionSpace {
  public var serverTrust: SecTrust? { nil }
}
