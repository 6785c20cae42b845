import Foundation
import ImageSources
import Pixels

/// The key by which requests join one load: the source's URL, or the entity itself where there is none,
/// and an identity where the request may not share the load of others.
///
/// Its hash is computed once, since a URL hashes all its text and a key is looked up often. It leaves the version out,
/// since few loads of one URL differ in that. The key is an object, since comparing and copying its parts costs more than
/// making it: the registry compares a key with itself, mostly.
final class LoadKey: Hashable, Sendable {
  private enum Name: Hashable, Sendable {
    case url(URL)
    case entity(ImageID)
    case original(ImageID, version: ImageID)
  }

  private let name: Name
  private let hash: Int
  private let identity: LoadIdentity?
  /// The explicit version of the requests.
  let version: ImageID?
  /// Whether there is one; to ask the version itself would copy it.
  let isExplicit: Bool

  private init(_ name: Name, _ identity: LoadIdentity?, _ version: ImageID? = nil) {
    self.name = name
    self.identity = identity
    self.version = version
    isExplicit = version != nil
    var hasher = Hasher()
    hasher.combine(name)
    if let identity { hasher.combine(identity) }
    hash = hasher.finalize()
  }

  static func url(
    _ url: URL, _ identity: LoadIdentity? = nil, version: ImageID? = nil
  ) -> LoadKey {
    LoadKey(.url(url), identity, version)
  }

  static func entity(
    _ id: ImageID, _ identity: LoadIdentity? = nil, version: ImageID? = nil
  ) -> LoadKey {
    LoadKey(.entity(id), identity, version)
  }

  static func original(
    _ id: ImageID, version: ImageID, _ identity: LoadIdentity? = nil
  ) -> LoadKey {
    LoadKey(.original(id, version: version), identity)
  }

  /// The key of the same requests, of the default version.
  var plain: LoadKey { isExplicit ? LoadKey(name, identity) : self }

  /// The key of a load for the same that downloads.
  var asFetched: LoadKey { LoadKey(name, identity?.asFetched, version) }

  /// Whether this key is that of a version of another one's.
  func isVersion(of plain: LoadKey) -> Bool {
    isExplicit && name == plain.name && identity == plain.identity
  }

  /// `nil` where the entity itself has the image.
  var url: URL? { if case .url(let url) = name { url } else { nil } }

  /// Whether all subscribers are content with a placeholder.
  var isPlaceholder: Bool { identity?.isPlaceholder == true }

  static func == (first: LoadKey, second: LoadKey) -> Bool {
    first === second || first.hash == second.hash && first.hasParts(of: second)
  }

  @inline(never)
  private func hasParts(of other: LoadKey) -> Bool {
    name == other.name && identity == other.identity && version == other.version
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// An original that several addresses lead to, such as signed ones.
struct SharedOriginal: Sendable {
  /// The key by which requests for other addresses join.
  let loadKey: LoadKey
  /// The size of the format for which the entity named the address: the original may be no larger.
  let size: PixelSize

  func covers(_ other: SharedOriginal) -> Bool {
    size.width >= other.size.width && size.height >= other.size.height
  }
}

/// The images that a removal takes away.
enum Removal: Hashable, Sendable {
  case entity(ImageID, format: String)
  case format(String)
  /// The entity's kept originals, and no image.
  case originals(ImageID)
}

/// Names one load; its number is that of the request that began it (``Generation``).
struct LoadID: Hashable, Sendable {
  let number: Int
  /// The index of the load's record in the registry while it is under way.
  let index: Int
}

/// Names one subscriber: a caller or a stream that waits for one image.
struct SubscriberID: Hashable, Sendable {
  let number: Int
}
