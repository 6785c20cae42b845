import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// A cache whose table is full, the same images in the stores of its peers, and a random order in
/// which both are asked.
final class Gallery {
  let cache: ImageCache
  let format: ImageFormat
  /// The images in the order in which they are asked for.
  let hits: HitList
  let stores: [PeerStore]
  /// The keys of `images`, one after the other.
  private let keys: [UInt8]

  /// Opens the cache and the peers, and fills both.
  ///
  /// The table is filled through the store below the cache, which takes a million images in
  /// bearable time.
  ///
  /// - Parameter spareCount: Slots that stay free. One is enough for replacing images without
  ///   evicting any, even if the readers of the others do not run for long.
  init(
    _ name: String, count: Int, spareCount: Int = 0, side: Int, roles: PeerStore.Roles,
    setting: BenchSetting
  ) async throws {
    let size = PixelSize(width: side, height: side)
    format = Self.format(name, count: count + spareCount, side: side)
    let layout = PixelLayout(for: size, format: .bgrx32)
    cache = try await setting.makeCache(name, formats: [format])
    stores = try setting.peers.open(
      roles, in: Self.peerFolder(name, in: setting.place.url), layout: layout,
      capacity: count)
    let ordered = (0..<count).map { BenchImage($0) }
    var random = SystemRandomNumberGenerator()
    hits = HitList(cache: cache, format: format, images: ordered.shuffled(using: &random))
    keys = hits.images.flatMap(\.key)
    let (photographs, stores) = (setting.photographs, stores)
    // More images would only take longer to draw.
    let differentCount = min(count, Self.differentCount)
    let bitmaps = try (0..<differentCount).map { try photographs.part($0, size: size) }
    try Self.fill(cache, format, with: ordered) { bitmaps[$0 % differentCount] }
    for (number, image) in ordered.enumerated() {
      try Task.checkCancellation()
      try bitmaps[number % differentCount].withUnsafeBytes { pixels in
        for store in stores { try store.store(image.key, pixels) }
      }
    }
  }

  private static let differentCount = 1000

  static func format(_ name: String, count: Int, side: Int) -> ImageFormat {
    ImageFormat(
      name: name, size: .exact(PixelSize(width: side, height: side)), pixelFormat: .bgrx32,
      capacity: .count(count))
  }

  /// The folder of all stores of a gallery's peers.
  static func peerFolder(_ name: String, in place: URL) -> URL {
    place.appending(path: name + "-peers")
  }

  /// Puts images into an open cache's table.
  static func fill(
    _ cache: ImageCache, _ format: ImageFormat, with images: some Sequence<BenchImage>,
    bitmap: (Int) throws -> Bitmap
  ) throws {
    let table = try table(of: cache, format)
    defer { table.close() }
    for (number, image) in images.enumerated() {
      try Task.checkCancellation()
      try insert(bitmap(number), for: image, into: table)
    }
  }

  /// Another opening of a cache's table.
  static func table(of cache: ImageCache, _ format: ImageFormat) throws -> Table {
    guard case .count(let capacity) = format.capacity else { throw BenchFailure.missingImage }
    let layout = PixelLayout(for: format.size, format: format.pixelFormat)
    let directory = try TableDirectory(path: cache.directory.path(percentEncoded: false))
    return try Table(
      name: format.name, in: directory,
      geometry: TableGeometry(
        width: format.size.width, height: format.size.height, rowByteCount: layout.rowBytes,
        pixelFormat: ImageCode(format).rawValue),
      capacity: .slots(capacity))
  }

  static func insert(_ bitmap: Bitmap, for image: BenchImage, into table: Table) throws {
    try insert(for: image, bitmap.size, into: table) { target in
      bitmap.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }

  /// Stores the image that `draw` leaves in a slot's scratch memory.
  static func insert(
    for image: BenchImage, _ size: PixelSize, into table: Table,
    draw: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    guard let buffer = table.makeBuffer() else {
      throw BitmapError.outOfMemory(byteCount: table.geometry.pixelByteCount)
    }
    try draw(buffer.pixels)
    let id = image.imageID.tableID
    let sealed = try buffer.sealed(
      key: TableKey(entity: id, version: id),
      extent: SlotExtent(width: size.width, height: size.height))
    _ = try table.insert(sealed)
  }

  /// The images of one turn; turns go through all of them, and begin again at the end.
  func slice(turn: Int, count: Int) -> Range<Int> {
    Contest.slice(of: hits.images.count, turn: turn, count: count)
  }

  /// Takes part in a contest with so many images in each turn.
  func contender(
    batch: Int, _ body: @escaping (Range<Int>) throws -> Void
  ) -> Contest.Contender {
    Contest.contender(of: hits.images.count, batch: batch, body)
  }

  /// A peer's part in a contest: it obtains as many images in a turn as it asks for.
  func contender(_ store: PeerStore, reads: Bool) -> Contest.Contender {
    contender(batch: store.batch) { try store.get(self.keys($0), reads: reads) }
  }

  func stores(_ role: PeerStore.Roles) -> [PeerStore] {
    stores.filter { $0.roles.contains(role) }
  }

  func keys(_ slice: Range<Int>) -> ArraySlice<UInt8> {
    keys[(slice.lowerBound * 16)..<(slice.upperBound * 16)]
  }

  func close() async {
    for store in stores { store.close() }
    await cache.close()
  }
}
