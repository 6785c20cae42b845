package import ImageSources
package import Pixels
import TableStore

/// Names one original: its id, the account that may see it, and the address that delivered it.
package struct OriginalName: Hashable, Sendable {
  package let id: ImageID
  /// An empty string for everyone, else 16 bytes of the SHA-256 of the account's name: the database tells
  /// accounts apart, and does not know them.
  let account: ImageID
  let address: ImageID

  package init(id: ImageID, account: AccountID? = nil, address: ImageID) {
    self.init(id: id, account: Self.account(account), address: address)
  }

  init(id: ImageID, account: ImageID, address: ImageID) {
    (self.id, self.account, self.address) = (id, account, address)
  }

  static let everyone = ImageID("")

  static func account(_ account: AccountID?) -> ImageID {
    guard let account else { return everyone }
    let hash = Array(account.name.utf8).withUnsafeBytes { SHA256.words(of: $0) }
    func word(_ index: Int) -> UInt64 { UInt64(hash[index]) << 32 | UInt64(hash[index + 1]) }
    return ImageID(TableID(uuid: (word(0), word(2))))
  }

  /// The number of its row in the database, a hash. Of two names that share one, however unlikely, the later is kept.
  var row: Int64 {
    Int64(bitPattern: TableID.hash(account.tableID, id.tableID, address.tableID))
  }

  /// The number that all originals of an id and an account share: as for a row whose address is empty.
  static func variants(_ id: ImageID, _ account: ImageID) -> Int64 {
    Int64(bitPattern: TableID.hash(account.tableID, id.tableID, everyone.tableID))
  }
}

/// The image that an original was loaded for.
package struct OriginalOwner: Hashable, Sendable {
  let namespace: ImageID
  let entity: ImageID

  package init(namespace: ImageID, entity: ImageID) {
    (self.namespace, self.entity) = (namespace, entity)
  }
}

/// A lookup: an original of the same address answers, and another one of the same id, account and version
/// if its pixels suffice. One of the same address, but another version, answers an explicit version only once its server
/// was asked.
package struct OriginalQuery: Sendable {
  let name: OriginalName
  package let version: ImageID
  let owner: OriginalOwner
  let suffices: @Sendable (PixelSize) -> Bool

  package init(
    name: OriginalName, version: ImageID, owner: OriginalOwner,
    suffices: @escaping @Sendable (PixelSize) -> Bool = { _ in false }
  ) {
    (self.name, self.version, self.owner, self.suffices) = (name, version, owner, suffices)
  }

  /// The version, unless it is the default one: the address.
  var explicitVersion: ImageID? { version == name.address ? nil : version }

  /// Whether an original may answer without its server, by its version.
  func accepts(_ version: ImageID) -> Bool { explicitVersion.map { $0 == version } ?? true }

  /// Whether another original shows the same image.
  func isVariant(_ other: OriginalRecord) -> Bool {
    other.name.id == name.id && other.name.account == name.account && other.version == version
      && !other.isPlaceholder
  }
}

/// The originals that a removal takes; pure.
enum OriginalRemoval: Hashable, Sendable {
  /// Of whichever address.
  case original(ImageID, account: ImageID)
  /// Those loaded for an entity; in all namespaces where none is named.
  case entity(ImageID, namespace: ImageID?)
  case account(ImageID)
  case all(namespace: ImageID?)

  func covers(_ name: OriginalName, _ owner: OriginalOwner) -> Bool {
    switch self {
    case .original(let id, let account): name.id == id && name.account == account
    case .entity(let entity, let namespace):
      owner.entity == entity && (namespace ?? owner.namespace) == owner.namespace
    case .account(let account): name.account == account
    case .all(let namespace): (namespace ?? owner.namespace) == owner.namespace
    }
  }
}

/// A load under way that may keep its original, until the last reference goes. A removal that covers the
/// original forbids that, whichever cache of the process it loads for: what it fetched is older.
package final class OriginalLoad: Sendable {
  let number: Int
  private let end: @Sendable (Int) -> Void

  init(_ number: Int, end: @escaping @Sendable (Int) -> Void) {
    (self.number, self.end) = (number, end)
  }

  deinit { end(number) }
}
