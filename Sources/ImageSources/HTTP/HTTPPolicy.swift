import Foundation

/// Which addresses may be asked, and which redirects followed.
struct HTTPPolicy: Sendable {
  private let allowsInsecureHTTP: Bool

  init(allowsInsecureHTTP: Bool) {
    self.allowsInsecureHTTP = allowsInsecureHTTP
  }

  /// Checks an address that is about to be asked.
  func check(_ url: URL) throws(ImageSourceError) {
    switch url.scheme?.lowercased() {
    case "https": break
    case "http":
      guard allowsInsecureHTTP || Self.isThisMachine(url.host) else {
        throw .insecureHTTPRefused(url)
      }
    case let scheme: throw .unsupportedScheme(scheme ?? "")
    }
  }

  /// Checks the next address of a redirect; it has to satisfy ``check(_:)`` as well.
  func checkRedirect(from: URL, to: URL) throws(ImageSourceError) {
    let isDowngrade = from.scheme?.lowercased() == "https" && to.scheme?.lowercased() != "https"
    do {
      try check(to)
    } catch {
      throw .redirectRefused(from: from, to: to)
    }
    if isDowngrade { throw .redirectRefused(from: from, to: to) }
  }

  /// Whether a host name or number means this machine: RFC 6761 section 6.3, RFC 1122 section
  /// 3.2.1.3, RFC 4291 section 2.5.3. Only names that a resolver cannot send elsewhere count.
  static func isThisMachine(_ host: String?) -> Bool {
    guard let host = host?.lowercased() else { return false }
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    // As numbers are written: "-0" and "09" are numbers to Swift, and names to a resolver.
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
  }
}
