/// An account of the program: two accounts share no load and no original.
///
/// They share the tables of a cache; a namespace for each account separates those.
///
/// ```swift
/// var options = LoadOptions()
/// options.account = AccountID("alice@example.com")
/// ```
public struct AccountID: Hashable, Sendable {
  // Bytes, since `String` compares canonically: two spellings of "é" would be one account.
  private let bytes: [UInt8]

  /// The exact name.
  public var name: String { String(decoding: bytes, as: UTF8.self) }

  /// Creates the id of one account or session.
  ///
  /// - Parameter name: Any text, compared byte for byte.
  public init(_ name: String) { bytes = Array(name.utf8) }
}
