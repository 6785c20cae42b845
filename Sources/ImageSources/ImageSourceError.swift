public import Foundation

/// Why the library's own sources did not bring an image.
@nonexhaustive public enum ImageSourceError: Error, Hashable, Sendable {
  /// No source here loads URLs of this scheme; empty for a URL that has none.
  case unsupportedScheme(String)

  /// Plain http to a host other than this machine, which ``HTTPOptions/allowsInsecureHTTP`` did not
  /// allow.
  case insecureHTTPRefused(URL)

  /// ``HTTPOptions/modifyRequest`` or ``HTTPOptions/userAgent`` set a header field of this name, and
  /// name or value have characters that end a field.
  case invalidHeader(String)

  /// ``HTTPOptions/modifyRequest`` or the request's own headers set `Range`, `If-Range`, `If-None-Match`
  /// or `If-Modified-Since`, which the source sets itself: it could not read the answer.
  case reservedHeader(String)

  /// There is no file at this path.
  case notFound(path: String)

  /// The file at this path cannot be read; the reason is the system's or ours.
  case unreadable(path: String, reason: String)

  /// The answer has more bytes than were allowed.
  case tooLarge(byteCountLimit: Int)

  /// The server answered with a status that brings no image: neither 200 to 203 nor 226, nor a part of the
  /// whole (206), nor a redirect.
  case httpStatus(Int)

  /// The connection ended before the body did; `expected` is `nil` where the length was not
  /// announced.
  case truncatedBody(received: Int, expected: Int?)

  /// The data URL contradicts its standard; the text says where.
  case invalidDataURL(String)

  /// More redirects than ``HTTPOptions/redirectLimit`` allows.
  case tooManyRedirects(limit: Int)

  /// A redirect that is not followed: from https to http, to another scheme, or to plain http that
  /// ``HTTPOptions/allowsInsecureHTTP`` does not allow; ``description`` says which.
  case redirectRefused(from: URL, to: URL)

  /// Nothing arrived for ``HTTPOptions/idleTimeout``, less than ``HTTPOptions/lowestByteRate`` over 30
  /// seconds, or not everything within ``HTTPOptions/totalTimeout``.
  case timedOut(after: Duration)

  /// No connection, or one that failed; the text is the system's.
  case network(String)

  /// No network leads to the server, as the system says of a connection that failed. Where the system
  /// cannot tell, as Linux cannot when a name is not found, it is ``network(_:)``.
  case offline

  /// Only networks that the request refuses lead to the server: see
  /// ``LoadOptions/allowsExpensiveNetworkAccess`` and ``LoadOptions/allowsConstrainedNetworkAccess``.
  case networkRefused

  /// The https server at this host has a public key that ``HTTPOptions/serverTrust`` does not name.
  case serverNotTrusted(String)

  /// A library of the system that requests to web servers need cannot be loaded; the text names it, a
  /// package that has it, and the reason. On Linux only, where libcurl is loaded by a process' first
  /// request; the next request tries again.
  case missingLibrary(String)
}

extension ImageSourceError: LocalizedError, CustomStringConvertible {
  /// The same as ``description``, so that `localizedDescription` says it too; in English.
  public var errorDescription: String? { description }

  /// One sentence that names the offending value.
  public var description: String {
    switch self {
    case .unsupportedScheme(""):
      "The URL has no scheme; a path becomes one with `URL(fileURLWithPath:)`."
    case .unsupportedScheme(let scheme): "No source here loads \"\(scheme)\" URLs."
    case .insecureHTTPRefused(let url):
      "\(url.abbreviated) is plain http, which `HTTPOptions.allowsInsecureHTTP` does not allow."
    case .invalidHeader(let name):
      "The header field \"\(name)\" has characters that end a field."
    case .reservedHeader(let name):
      "The header field \"\(name)\" is set by the source itself, and by nobody else."
    case .notFound(let path): "There is no file at \(path)."
    case .unreadable(let path, let reason): "The file at \(path) cannot be read: \(reason)"
    case .tooLarge(let limit): "The image file has more than \(limit) bytes."
    case .httpStatus(let status): "The server answered with status \(status)."
    case .truncatedBody(let received, let expected?):
      "The connection ended after \(received) of \(expected) bytes."
    case .truncatedBody(let received, nil):
      "The connection ended after \(received) bytes, before the image did."
    case .invalidDataURL(let text): "The data URL is malformed: \(text)"
    case .tooManyRedirects(let limit): "The server redirects more than \(limit) times."
    case .redirectRefused(let from, let to):
      "\(from.abbreviated) redirects to \(to.abbreviated): \(Self.refusal(from, to))"
    case .timedOut(let duration):
      "Nothing, too little or not everything arrived within \(duration)."
    case .network(let text): "The connection failed: \(text)"
    case .offline: "No network leads to the server."
    case .networkRefused:
      "Only an expensive or constrained network, which the request does not allow, leads to the server."
    case .serverNotTrusted(let host):
      "The public key of \(host) is none that `HTTPOptions.serverTrust` names."
    case .missingLibrary(let text): "A library of the system is missing: \(text)"
    }
  }

  /// The rule that a refused redirect broke.
  private static func refusal(_ from: URL, _ to: URL) -> String {
    guard to.scheme?.lowercased() == "http" else {
      return "a redirect leads to https or http, and to no other scheme."
    }
    return from.scheme?.lowercased() == "https"
      ? "no redirect leads from https to plain http."
      : "plain http, which `HTTPOptions.allowsInsecureHTTP` does not allow."
  }
}

extension Error {
  /// What an error says of itself; the name of its case where it says nothing.
  package var text: String { (self as? any LocalizedError)?.errorDescription ?? "\(self)" }
}

extension URL {
  /// Enough of the URL to recognise it; a data URL can be megabytes long.
  package var abbreviated: String {
    let text = absoluteString
    return text.utf8.count <= 200 ? text : "\(text.prefix(200))…"
  }
}
