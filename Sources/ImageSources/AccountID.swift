/// An account of the program, whose images no other account may see: two accounts share no load and no original.
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
