/// The accounts, one or all, that may see an answer: two audiences share no load and no original.
///
/// ```swift
/// let everybody = nil
/// let account = AccountID("alice@example.com")
/// ```
public struct AccountID: Hashable, Sendable {
  /// The exact name; empty for ``everyone``.
  public let name: String

  /// Creates the audience of one account or session.
  ///
  /// - Parameter name: Any text, compared byte for byte; an empty one means ``everyone``.
  public init(_ name: String) { self.name = name }

  /// Answers that anybody may see.
  public static let everyone = AccountID("")

  // `String` compares canonically: two spellings of "é" would be one account.
  public static func == (first: AccountID, second: AccountID) -> Bool {
    first.name.utf8.elementsEqual(second.name.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in name.utf8 { hasher.combine(byte) }
  }
}
