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

  /// A resource of the server in one text, port included.
  ///
  /// Without the query, since a signed address has another one each time.
  static func origin(of url: URL) -> String {
    let (host, path) = (HTTPHost(url), url.absoluteURL.path(percentEncoded: true))
    return "\(host.scheme)://\(host.name):\(host.port)" + (path.isEmpty ? "/" : path)
  }
}
