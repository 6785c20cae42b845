import Foundation

/// The proxy of ``HTTPOptions/proxy``, checked, with its user and password apart from its address.
struct HTTPProxy: Hashable, Sendable {
  /// What a system can do with a proxy.
  struct Support: Sendable {
    let system: String
    let schemes: [String]
    let takesUser: Bool

    static let curl = Support(
      system: "On Linux", schemes: ["http", "https", "socks4", "socks4a", "socks5", "socks5h"],
      takesUser: true)
    static let urlSession = Support(
      system: "On Apple platforms", schemes: ["http", "socks5"], takesUser: false)
  }

  let scheme: String
  let host: String
  /// 1080 where the URL has none, as libcurl takes it.
  let port: Int
  /// The URL without user and password, since libcurl quotes it in its errors.
  let address: String
  let user: String?
  let password: String?

  /// Takes the URL apart.
  ///
  /// - Throws: ``ImageSourceError/network(_:)`` for a proxy that cannot be used, which must not be
  ///   passed by. Its text quotes nothing of the URL: in one that is written wrongly, the password may
  ///   stand anywhere.
  init(_ url: URL, _ support: Support) throws(ImageSourceError) {
    guard let scheme = url.scheme?.lowercased(), support.schemes.contains(scheme) else {
      throw .network(
        "\(support.system) the scheme of HTTPOptions.proxy has to be one of "
          + support.schemes.joined(separator: ", ") + ".")
    }
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let host = url.host, !host.isEmpty
    else { throw .network("HTTPOptions.proxy has no host.") }
    (user, password) = (parts.user, parts.password)
    guard support.takesUser || user == nil && password == nil else {
      throw .network("\(support.system) HTTPOptions.proxy takes no user and no password.")
    }
    (parts.user, parts.password) = (nil, nil)
    guard let address = parts.string else { throw .network("HTTPOptions.proxy is no URL.") }
    (self.scheme, self.host, self.address) = (scheme, host, address)
    port = parts.port ?? 1080
  }

  /// Whether libcurl's words for an error quote a proxy's URL, with user and password: one that the
  /// environment names, since those of ``HTTPOptions/proxy`` are checked.
  static func isQuoted(in text: String) -> Bool { text.hasPrefix("Unsupported proxy") }
}
