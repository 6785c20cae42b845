public import Foundation
package import TableStore

/// Names an entity, or one version of its image, by any string, UUID or integer.
///
/// Ids are compared exactly, byte for byte: `"a"` and `"A"` differ, and so do two spellings of
/// `"é"`. An integer, a UUID and a string never equal each other, whatever they look like.
///
/// Keep ids free of container paths: an app's folder changes with each update, and with it every
/// id made from a path below it.
///
/// ```swift
/// let revision = 3
/// let who = ImageID(photo.id)
/// let which = ImageID("\(photo.id)/revision-\(revision)")
/// ```
public struct ImageID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral
{
  package let tableID: TableID

  /// Creates an id from the exact UTF-8 bytes of a string.
  public init(_ string: String) { tableID = TableID(string) }

  /// Creates an id from the 16 bytes of a UUID, without making a string of it.
  public init(_ uuid: UUID) {
    tableID = TableID(
      uuid: withUnsafeBytes(of: uuid.uuid) { bytes in
        (
          UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      })
  }

  /// Creates an id from an integer, which must fit into 64 bits, with or without sign.
  @inlinable
  public init(_ integer: some BinaryInteger) {
    if let signed = Int64(exactly: integer) {
      self.init(signed: signed)
    } else {
      self.init(unsigned: UInt64(integer))
    }
  }

  @usableFromInline
  init(signed integer: Int64) { tableID = TableID(integer) }

  @usableFromInline
  init(unsigned integer: UInt64) { tableID = TableID(integer) }

  /// Creates an id from the absolute string of a URL.
  // A hit of a URL would else call it out of line, and retain the URL for it.
  @inlinable
  public init(_ url: URL) { self.init(url.absoluteString) }

  /// Whether it is the id of a URL; no id is made to compare, which would take memory.
  package func isAddress(_ url: URL) -> Bool {
    guard tableID.kind == .string else { return false }
    var address = url.absoluteString
    return tableID.withText { id in
      address.withUTF8 { text in
        guard let first = id.baseAddress, let second = text.baseAddress else { return text.isEmpty }
        return id.count == text.count && memcmp(first, second, id.count) == 0
      }
    }
  }

  /// Creates an id from a string written in the source.
  public init(stringLiteral value: String) { self.init(value) }

  /// Creates an id from a number written in the source.
  public init(integerLiteral value: Int) { self.init(value) }

  package init(_ tableID: TableID) { self.tableID = tableID }

  /// The version of a placeholder that holds the place of this one.
  package var placeholder: ImageID { ImageID(tableID.placeholder) }

  /// The string, the UUID or the number, as text.
  public var description: String { tableID.description }
}

extension ImageID: Codable {
  /// The kind is written too, since a string never equals a UUID or a number.
  private enum CodingKeys: String, CodingKey { case string, uuid, integer }

  /// Reads what ``encode(to:)`` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    if let string = try values.decodeIfPresent(String.self, forKey: .string) {
      self.init(string)
    } else if let uuid = try values.decodeIfPresent(UUID.self, forKey: .uuid) {
      self.init(uuid)
    } else if let integer = try? values.decode(Int64.self, forKey: .integer) {
      self.init(signed: integer)
    } else {
      self.init(unsigned: try values.decode(UInt64.self, forKey: .integer))
    }
  }

  /// Writes one value under the name of its kind, as in `{"string": "a"}`.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    let words = tableID.words
    switch tableID.kind {
    case .string: try values.encode(tableID.description, forKey: .string)
    case .integer: try values.encode(Int64(bitPattern: words.0), forKey: .integer)
    case .largeInteger: try values.encode(words.0, forKey: .integer)
    // Marks are no ids of a user's.
    case .uuid, .placeholder, .damaged, .damagedPlaceholder, .frame:
      try values.encode(UUID(words.0, words.1), forKey: .uuid)
    }
  }
}

extension UUID {
  /// Creates a UUID from its first and its last eight bytes, most significant first.
  fileprivate init(_ first: UInt64, _ last: UInt64) {
    let words = (first.bigEndian, last.bigEndian)
    self.init(uuid: withUnsafeBytes(of: words) { $0.loadUnaligned(as: uuid_t.self) })
  }
}
