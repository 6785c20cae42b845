import TableStore

/// An image whose every pixel is a function of its entity and version, so that a wrong or torn one
/// cannot look right.
///
/// The numbers come from a generator that has nothing in common with the store's hashes.
struct ImageVersion: Hashable, Sendable {
  let entity: Int
  let version: Int

  var key: TableKey {
    TableKey(entity: TableID("entity \(entity)"), version: TableID("version \(version)"))
  }

  /// The bits of an image whose pixels are all opaque.
  static let opaque: UInt64 = 0xFF00_0000_FF00_0000

  /// Draws the image.
  ///
  /// - Parameter mask: bits that are set in every two pixels of four bytes.
  func fill(_ bytes: UnsafeMutableRawBufferPointer, mask: UInt64 = 0) {
    let words = bytes.bindMemory(to: UInt64.self)
    var state = seed
    for index in words.indices {
      words[index] = state | mask
      state = Self.next(state)
    }
  }

  /// True when every byte is the image's.
  ///
  /// Reads through a plain pointer, so that the thread sanitizer sees each read: it has no eyes
  /// inside the standard library.
  func isShown(by bytes: UnsafeRawBufferPointer, mask: UInt64 = 0) -> Bool {
    guard let words = bytes.bindMemory(to: UInt64.self).baseAddress else { return false }
    var state = seed
    var isSame = true
    for index in 0..<(bytes.count / 8) {
      if words[index] != state | mask { isSame = false }
      state = Self.next(state)
    }
    return isSame
  }

  private var seed: UInt64 {
    Self.next(UInt64(entity) &* 0x2545_F491_4F6C_DD1D ^ UInt64(version) &* 0x9FB2_1C65_1E98_DF25)
  }

  /// Knuth's linear generator, turned so that its low bits, which repeat, are not alone.
  private static func next(_ state: UInt64) -> UInt64 {
    let product = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return product << 23 | product >> 41
  }
}

extension TableEntry {
  func shows(_ image: ImageVersion) -> Bool { withPixels { image.isShown(by: $0) } }
}

/// All images of a run, with their keys made once.
struct Catalogue: Sendable {
  let entityCount: Int
  let versionCount: Int
  private let keys: [TableKey]

  init(entities: Int, versions: Int) {
    entityCount = entities
    versionCount = versions
    keys = (0..<entities * versions).map {
      ImageVersion(entity: $0 / versions, version: $0 % versions).key
    }
  }

  func key(_ image: ImageVersion) -> TableKey {
    keys[image.entity * versionCount + image.version]
  }

  /// Every image, entity by entity.
  var images: [ImageVersion] {
    keys.indices.map { ImageVersion(entity: $0 / versionCount, version: $0 % versionCount) }
  }

  /// The entity of an id.
  func entity(of id: TableID) -> Int? {
    (0..<entityCount).first { keys[$0 * versionCount].entity == id }
  }

  func randomImage(using random: inout some RandomNumberGenerator) -> ImageVersion {
    ImageVersion(
      entity: Int.random(in: 0..<entityCount, using: &random),
      version: Int.random(in: 0..<versionCount, using: &random))
  }
}
