import Foundation

/// A server as addresses name it: RFC 9110 section 4.3.1.
struct HTTPHost: Hashable, Sendable {
  private let scheme: String
  private let name: String
  private let port: Int

  init(_ url: URL) {
    scheme = url.scheme?.lowercased() ?? ""
    name = url.host?.lowercased() ?? ""
    // RFC 9110 sections 4.2.1 and 4.2.2.
    port = url.port ?? (scheme == "https" ? 443 : 80)
  }

  /// The same in one text, port included.
  var origin: String { "\(scheme)://\(name):\(port)" }
}
