public import Foundation
public import ImageSources
public import Pixels

/// An original in a store, as ``OriginalStore/inspect()`` lists it, or the unfinished download of one.
public struct Original: Hashable, Sendable {
  let record: OriginalRecord

  /// Whether it answers without its server being asked.
  public let isFresh: Bool

  /// The id under which it is kept: ``ImageEntity/originalID(for:)``.
  public var id: ImageID { record.name.id }

  /// The address that delivered it.
  public var address: URL? { URL(string: record.name.address.description) }

  /// The entity that it was loaded for.
  public var entity: ImageID { record.owner.entity }

  /// The ``ImageCache/namespace`` of the cache that loaded it.
  public var namespace: String { record.owner.namespace.description }

  /// Whether it was loaded for no account. Stores know of accounts only a hash.
  public var isForEveryone: Bool { record.name.account == OriginalName.everyone }

  /// The bytes of the whole encoded image.
  public var byteCount: Int { record.byteCount }

  /// The bytes that are there; fewer than ``byteCount`` for an unfinished download.
  public var arrivedByteCount: Int { record.wholeByteCount }

  /// The size of the image in pixels, where it is known.
  public var size: PixelSize? {
    record.size.width > 0 && record.size.height > 0 ? record.size : nil
  }

  /// Whether it stands in for the real original, and never takes its place.
  public var isPlaceholder: Bool { record.isPlaceholder }

  /// The moment at which it was stored.
  public var stored: Date { Date(timeIntervalSince1970: Double(record.stored)) }

  /// The moment of the last use.
  public var lastUse: Date { Date(timeIntervalSince1970: Double(record.lastUse) / 1_000_000) }
}

/// What the database has of an original.
@dynamicMemberLookup
package struct OriginalRecord: Hashable, Sendable {
  var name: OriginalName
  var version: ImageID
  var owner: OriginalOwner
  var row: OriginalRow
  /// What the requests of its load ask for. The database has what the store makes of it.
  var askedLifetime = SharedOriginalLifetime()

  /// Finds exactly this one.
  var query: OriginalQuery { OriginalQuery(name: name, version: version, owner: owner) }

  package subscript<Value>(dynamicMember path: WritableKeyPath<OriginalRow, Value>) -> Value {
    get { row[keyPath: path] }
    set { row[keyPath: path] = newValue }
  }

  package init(
    _ name: OriginalName, version: ImageID, owner: OriginalOwner, byteCount: Int,
    terms: ResponseMetadata
  ) {
    (self.name, self.version, self.owner) = (name, version, owner)
    row = OriginalRow(
      number: name.row, body: .random(in: .min ... .max), byteCount: byteCount,
      encodedTerms: terms.encoded())
  }
}

/// What a lookup finds of an original: its bytes have no other name than these numbers.
package struct OriginalRow: Hashable, Sendable {
  /// That of its name.
  var number: Int64
  /// A number that is drawn for its bytes, and never again.
  var body: UInt64
  var byteCount: Int
  /// The bytes that are there, and their checksum.
  var wholeByteCount = 0
  var checksum: UInt64 = 0
  /// The size of the upright, complete image in pixels; without a side where it is unknown.
  var size = PixelSize(width: 0, height: 0)
  /// A stand-in, which never takes the place of a real original.
  var isPlaceholder = false
  /// Seconds since 1970.
  var stored: Int64 = 0
  /// Microseconds since 1970.
  var lastUse: Int64 = 0
  var freshness = FreshnessFacts.mustAsk
  /// In place of the store's, if its load had one of its own.
  var lifetime: LoadOptions.OriginalLifetime?
  /// What the server said, as it stands on disk: most lookups need no more than `freshness`.
  var encodedTerms: [UInt8]

  var terms: ResponseMetadata {
    get {
      ResponseMetadata(encoded: encodedTerms)
        ?? ResponseMetadata(received: Date(timeIntervalSince1970: Double(stored)))
    }
    set { encodedTerms = newValue.encoded() }
  }
}

extension FreshnessFacts {
  /// The facts of an original that answers only once its server was asked.
  static let mustAsk = FreshnessFacts(answered: 0, freshFor: 0, mustRevalidate: true)
}
