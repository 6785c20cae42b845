public import Foundation

/// Why the library's own sources did not bring a picture.
@nonexhaustive public enum ImageSourceError: Error, Hashable, Sendable {
  /// No source here loads URLs of this scheme; empty for a URL that has none.
  case unsupportedScheme(String)

  /// Plain http to a host other than this machine, which ``HTTPOptions/allowsInsecureHTTP`` did not
  /// allow.
  case insecureHTTPRefused(URL)

  /// ``HTTPOptions/modifyRequest`` or ``HTTPOptions/userAgent`` set a header field of this name, and
  /// name or value have characters that end a field.
  case invalidHeader(String)

  /// There is no file at this path.
  case notFound(path: String)

  /// The file at this path cannot be read; the reason is the system's or ours.
  case unreadable(path: String, reason: String)

  /// The answer has more bytes than were allowed.
  case tooLarge(byteCountLimit: Int)

  /// The server answered with a status other than 200 and other than a redirect.
  case httpStatus(Int)

  /// The connection ended before the body did; `expected` is `nil` where the length was not
  /// announced.
  case truncatedBody(received: Int, expected: Int?)

  /// The data URL contradicts RFC 2397; the text says where.
  case invalidDataURL(String)

  /// More redirects than ``HTTPOptions/redirectLimit`` allows.
  case tooManyRedirects(limit: Int)

  /// A redirect that is never followed: from https to http, or to another scheme.
  case redirectRefused(from: URL, to: URL)

  /// Nothing arrived for ``HTTPOptions/idleTimeout``, or not everything within
  /// ``HTTPOptions/totalTimeout``.
  case timedOut(after: Duration)

  /// No connection, or one that failed; the text is the system's.
  case network(String)
}
