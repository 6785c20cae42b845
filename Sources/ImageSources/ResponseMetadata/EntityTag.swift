/// An opaque name of one version of an original: RFC 9110 section 8.8.3.
struct EntityTag: Sendable {
  let isWeak: Bool

  /// The characters between the quotes.
  let opaque: String

  /// Reads a tag as a server sends it, with its quotes.
  ///
  /// `nil` for anything else, such as two tags with a comma between them.
  init?(_ text: String) {
    var reader = FieldReader(text)
    // The letter's case matters, unlike most words of header fields.
    isWeak = text.utf8.starts(with: "W/".utf8) && reader.take("W/")
    guard reader.take("\"") else { return nil }
    // Printable characters except quotes, and whatever is no ASCII.
    opaque = reader.run { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F } ?? ""
    guard reader.take("\""), reader.isAtEnd else { return nil }
  }

  /// Whether a text may be sent back as a server's tag.
  ///
  /// Servers forget the quotes, and compare with what they have sent. With a comma the text is a list, of which
  /// any tag would match.
  static func isOne(_ text: String) -> Bool {
    EntityTag(text) != nil || !text.contains(",") && ResponseMetadata.isText(text)
  }

  /// Whether two texts name two versions; quotes and weakness make no difference.
  static func differ(_ first: String?, _ second: String?) -> Bool {
    guard let first, let second else { return false }
    let (before, now) = (EntityTag(first)?.opaque ?? first, EntityTag(second)?.opaque ?? second)
    return !before.utf8.elementsEqual(now.utf8)
  }

  /// Whether equal tags mean equal bytes.
  ///
  /// Not those with characters that are no ASCII: two of them may have become one text on the way
  /// here.
  var isStrong: Bool { !isWeak && opaque.utf8.allSatisfy { $0 < 0x80 } }

  /// Whether two versions are byte for byte the same: section 8.8.3.2.
  func isStronglyEqual(to other: EntityTag) -> Bool {
    isStrong && other.isStrong && opaque.utf8.elementsEqual(other.opaque.utf8)
  }
}
