public import Foundation

/// How a ``URLImageSource`` talks to web servers.
public struct HTTPOptions: Sendable {
  /// Whether images may come over plain http from other machines; `false` by default.
  ///
  /// https, and http to this machine itself, are always allowed. On Apple platforms the app's
  /// transport security settings apply besides.
  public var allowsInsecureHTTP = false

  /// How long nothing may arrive; 15 seconds by default.
  ///
  /// Neither this nor ``totalTimeout`` counts the time that a load waits for its turn with a host.
  public var idleTimeout: Duration = .seconds(15)

  /// How many bytes per second a body has to bring on the average of 30 seconds; 1024 by default, and
  /// no limit at 0.
  ///
  /// A slower one ends with ``ImageSourceError/timedOut(after:)`` and is continued as ``retry`` says.
  public var lowestByteRate = 1024

  /// How many bytes of bodies per second all downloads of a source bring together; no limit where `nil`.
  ///
  /// A download that waits for its part is silent: ``idleTimeout`` and ``lowestByteRate`` have to allow it.
  /// No effect where ``limitsByteRate`` is false.
  package var highestByteRate: Int?

  /// How long one load may take with all its redirects and repetitions; 15 minutes by default, and no
  /// limit where `nil`.
  ///
  /// Long, since it ends honest downloads too: 50 MB take 7 minutes at 1 Mbit/s.
  public var totalTimeout: Duration? = .seconds(900)

  /// When a request that failed is sent again; twice by default.
  ///
  /// During the pause before it the load takes no turn that another load could use.
  public var retry = RetryPolicy()

  /// Whether a download that broke off is continued; `true` by default.
  ///
  /// Only where the server's answers prove that both parts are of one version: it has told the length
  /// and a strong `ETag`, or, without any `ETag`, a `Last-Modified` at least a minute before its own
  /// clock. Where an answer contradicts what is known, or refuses the continuation with any status, everything
  /// is fetched once more, by a plain request. Its answer counts, errors included.
  public var resumes = true

  /// How many requests are with one host at a time, each on a connection of its own unless the host
  /// speaks HTTP/2; 6 by default, and at least one.
  ///
  /// Waiting requests follow in the order of their urgency, which may change meanwhile. They do not
  /// count among the loads under way that the `networkWidth` of ``LoadResources`` bounds, which is three
  /// times as many by default.
  public var connectionsPerHost = 6

  /// How many redirects one load follows; 20 by default, as browsers do, and at least none.
  public var redirectLimit = 20

  /// The proxy that requests go through, such as `http://proxy.example.com:3128`; by default what the
  /// system says: its settings on Apple platforms, `http_proxy` and `https_proxy` on Linux.
  ///
  /// Requests to this machine itself go to it directly. Without a port in the URL it is 1080. On
  /// Linux the scheme may be `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`, and user and
  /// password may stand in the URL; on Apple platforms `http` and `socks5`, without a user. Any other
  /// proxy, and one that cannot be reached, is ``ImageSourceError/network(_:)``; no request passes it
  /// by.
  public var proxy: URL?

  /// A file of certificates, in PEM, by which https servers are checked instead of by the system's.
  ///
  /// A proxy that is spoken to over https is checked by the system's all the same.
  ///
  /// On Linux only: a `URLSession` takes no such file. On Apple platforms the device's own settings
  /// say which certificates are trusted, and https requests with a file here fail with
  /// ``ImageSourceError/network(_:)``, rather than being checked otherwise than was asked for. A file
  /// that cannot be read has the same error.
  public var certificateFile: URL?

  /// Which https servers are believed; ``ServerTrust/system`` by default.
  public var serverTrust = ServerTrust.system

  /// What requests give as their `User-Agent`; by default the system's own words on Apple platforms,
  /// and `FastImageCache` with its version on Linux.
  ///
  /// ``modifyRequest`` sees it among the headers, and may change it; a field that the hook adds under
  /// the same name in another case replaces it. Characters that end a field are
  /// ``ImageSourceError/invalidHeader(_:)``.
  public var userAgent: String?

  /// Changes each request before it is sent: headers, authorization, a signed URL; or refuses it by
  /// throwing.
  ///
  /// Called again for every redirect and every repetition, with the new URL and without its former changes. So
  /// credentials that you give to hosts that you know go nowhere else. Runs off every actor.
  ///
  /// Where it changes the address to another host, those headers of ``LoadOptions`` that it returns
  /// unchanged are not sent: they belong to the host of the image's own address.
  ///
  /// It must not set `Range`, `If-Range`, `If-None-Match` or `If-Modified-Since`
  /// (``ImageSourceError/reservedHeader(_:)``): the source sets them afterwards, for the address that
  /// the kept bytes came from.
  ///
  /// Called before the request waits for its turn with the host of the changed URL. So it may be called
  /// for many loads at once, and its changes have to stay valid while they wait.
  public var modifyRequest: (@concurrent @Sendable (HTTPRequest) async throws -> HTTPRequest)?

  /// Creates the default options.
  public init() {}
}

/// When a request to a web server that failed is sent again.
///
/// Sent again are requests whose connection failed or was silent or slow for too long, whose answer was
/// cut, and those answered with status 408, 429, 500, 502, 503 or 504. What has arrived is not fetched
/// again where the server's answers allow it (``HTTPOptions/resumes``).
///
/// Three things bound the repetitions besides ``limit``. A server that wants to be left alone for more
/// than 30 seconds (`Retry-After`) is. To each host a source sends ten repetitions, and beyond them one
/// for each ten loads that began. A repetition that brought 64 KiB of new bytes does not count, up to 20
/// in a load. A stream of HTTP/2 that the server has reset counts for its load alone, and not for the host.
public struct RetryPolicy: Hashable, Sendable {
  /// How many repetitions of one load may bring less than 64 KiB; 2 by default, and at least none.
  public var limit: Int

  /// The longest pause before the first repetition; 0.5 seconds by default. Each further pause may be
  /// twice as long. A pause takes a random part of that time, so that many loads do not come back at
  /// once.
  public var firstDelay = Duration.milliseconds(500)

  /// The longest of all pauses that the server has not asked for; 10 seconds by default.
  public var largestDelay = Duration.seconds(10)

  /// Creates a policy.
  ///
  /// - Parameter limit: How many repetitions of one load may bring next to nothing.
  public init(limit: Int = 2) { self.limit = limit }

  /// Sends every request once; a continuation that gets no answer, once more for the whole.
  public static let never = RetryPolicy(limit: 0)
}

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
