public import Foundation

/// A GET for one image from a web server.
///
/// Two requests are equal when their addresses and headers are, whoever asked first.
public struct HTTPRequest: Hashable, Sendable {
  /// The image's address, https or http.
  public var url: URL

  /// Header fields by name, such as `Authorization`.
  public var headers: [String: String]

  /// The entity whose image began the load; `nil` outside a cache.
  ///
  /// For logs, and never for authorisation: one load serves all who wait for the URL, and only the first
  /// of them stands here.
  public package(set) var firstEntity: ImageID?

  /// The account on whose behalf the image is loaded, for a hook that gives each account its own
  /// credentials; `nil` for everyone, and outside a cache.
  public package(set) var account: AccountID?

  /// Creates a request.
  public init(url: URL, headers: [String: String] = [:]) {
    self.url = url
    self.headers = headers
  }

  /// Whether addresses and headers are equal; ``firstEntity`` and ``account`` take no part.
  public static func == (first: HTTPRequest, second: HTTPRequest) -> Bool {
    first.url == second.url && first.headers == second.headers
  }

  /// Feeds what ``==(_:_:)`` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(headers)
  }

  /// Drops those of the named fields that are there in another case too: they have been replaced,
  /// since case makes no difference on the wire; RFC 9110 section 5.1.
  mutating func dropReplaced(_ names: some Sequence<String>) {
    for name in names
    where headers.keys.contains(where: { $0 != name && $0.lowercased() == name.lowercased() }) {
      headers[name] = nil
    }
  }

  /// Refuses conditions, and fields that would end early and begin another one: RFC 9112 section 11.1.
  func checkHeaders() throws(ImageSourceError) {
    for (name, value) in headers {
      guard !HTTPCondition.reservedNames.contains(name.lowercased()) else {
        throw .reservedHeader(name)
      }
      guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else {
        throw .invalidHeader(name)
      }
      guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw .invalidHeader(name)
      }
    }
  }
}
