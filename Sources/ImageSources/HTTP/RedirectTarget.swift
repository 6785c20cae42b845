import Foundation

/// The address that a field `Location` means to a browser: WHATWG's URL standard, section 4.4, as far as
/// https and http go.
enum RedirectTarget {
  /// The field's value as text. Where it is not UTF-8, bytes beyond ASCII are percent-encoded as they are.
  static func text(_ bytes: some Collection<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return bytes.map { byte in
      byte < 0x80
        ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// The address; `nil` where the text is none.
  static func url(_ location: String, relativeTo base: URL) -> URL? {
    let text = location.trimmingCharacters(in: .whitespaces).filter { $0 != "\t" }
    let standard = standard(text, baseScheme: base.scheme?.lowercased())
    return URL(string: standard, relativeTo: base)?.absoluteURL
  }

  /// The text as RFC 3986 would have it written. Browsers take a backslash for a slash, and one slash or
  /// many before a host for two.
  private static func standard(_ text: String, baseScheme: String?) -> String {
    let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
    var path = text[..<end].replacing("\\", with: "/")[...]
    var scheme: String?
    if let colon = path.firstIndex(of: ":"), !path[..<colon].contains("/") {
      scheme = path[..<colon].lowercased()
      guard scheme == "https" || scheme == "http" else { return text }
      path = path[colon...].dropFirst()
    }
    let slashes = path.prefix { $0 == "/" }
    guard slashes.count >= 2 || scheme != nil && scheme != baseScheme else {
      return String(path + text[end...])
    }
    let authority = (scheme.map { $0 + "://" } ?? "//") + path.dropFirst(slashes.count)
    return authority + text[end...]
  }
}
