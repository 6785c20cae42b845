import Foundation

@testable import FastImageCache
@testable import ImageSources

/// Reads a data URL, and checks it against the rules for addresses.
enum AddressAttack {
  private static let limit = 1000

  static func run(on bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let url = URL(string: text) else { return }
    try checkPolicies(url)
    if let path = try? LocalPath(url), path.bytes.first == UInt8(ascii: "/") {
      try Attack.require(LocalPath(path.url) == path, "\(path.url) names another file than \(text)")
    }
    let content: Data
    do throws(ImageSourceError) {
      content = try DataURL.bytes(of: url, limit: limit)
    } catch {
      return
    }
    try Attack.require(content.count <= limit, "\(content.count) bytes out of a data URL")
    // Of the address as Foundation writes it: hosts of other alphabets become longer.
    let byteCount = url.absoluteString.utf8.count
    try Attack.require(content.count <= byteCount, "\(content.count) bytes out of \(text)")
  }

  private static func checkPolicies(_ url: URL) throws {
    let policy = HTTPPolicy(allowsInsecureHTTP: false)
    do throws(ImageSourceError) {
      try policy.check(url)
      if let secure = URL(string: "https://example.org/") {
        try policy.checkRedirect(from: secure, to: url)
      }
    } catch {
      return
    }
    try Attack.require(url.scheme?.lowercased() == "https", "A redirect to \(url) was allowed.")
  }
}
