import TableStore

/// What a removal takes; pure.
enum OriginalRemoval: Sendable {
  case key(OriginalDigest)
  /// The start of the SHA-256 of the entity.
  case entity(UInt64)
  /// The start of the SHA-256 of the audience.
  case audience(UInt32)
  case all

  func covers(_ label: OriginalLabel) -> Bool {
    switch self {
    case .key(let key): label.key == key
    case .entity(let entity): label.entity == entity
    case .audience(let audience): label.audience == audience
    case .all: true
    }
  }
}

/// By what a removal finds an original.
struct OriginalLabel: Hashable, Sendable {
  let key: OriginalDigest
  var entity: UInt64
  let audience: UInt32
}

extension OriginalLabel {
  init(_ record: OriginalRecord) {
    self.init(key: record.key, entity: record.entity, audience: record.audience)
  }

  /// As a file names its original.
  init(_ key: OriginalDigest, _ entity: TableID, audienceHash: some Sequence<UInt8>) {
    self.init(
      key: key, entity: OriginalRecord.digest(of: entity),
      audience: OriginalRecord.digest(of: audienceHash))
  }
}

/// A load under way that may keep its original, until the last reference goes.
///
/// A removal that covers the original forbids the load to keep it: what the load fetched is older than the
/// removal, whichever cache it loads for.
package final class OriginalLoad: Sendable {
  let number: Int
  private let end: @Sendable (Int) -> Void

  /// - Parameter end: Called with the number when the load is over.
  package init(_ number: Int, end: @escaping @Sendable (Int) -> Void) {
    (self.number, self.end) = (number, end)
  }

  deinit { end(number) }
}
