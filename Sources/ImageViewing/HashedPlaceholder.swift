package import FastImageCache
import ImageDrawing
import Pixels

/// What a place shows until the image is there, of an entity that describes its image by a hash.
package struct HashedPlaceholder: Sendable {
  /// The part of the drawn hash that the image shows.
  package let bitmap: Bitmap

  /// The size of the image in pixels, as far as the hash tells it.
  package let size: PixelSize

  /// The pixels of the image in a point.
  package let scale: Double
}

/// A toolkit's image of an entity's hash, made once for each hash and format.
@MainActor package struct HashedImage<Native> {
  private var key: Key?
  private var native: Native?

  private struct Key: Equatable {
    let hash: PlaceholderHash
    let format: ImageFormat
  }

  package init() {}

  /// - Parameters:
  ///   - request: Whose entity is asked for its hash.
  ///   - make: Makes the toolkit's image.
  /// - Returns: `nil` without a hash.
  package mutating func native(
    for request: ImagePlace.Request?, _ make: (HashedPlaceholder) -> Native?
  ) -> Native? {
    guard let request, let hash = request.entity.placeholderHash else { return nil }
    let new = Key(hash: hash, format: request.format)
    if new != key { (key, native) = (new, request.makePlaceholder().flatMap(make)) }
    return native
  }
}

extension ImagePlace.Request {
  /// Draws the entity's hash as the image is laid into its slot; takes about as long as the hash.
  ///
  /// - Returns: `nil` for an entity without a hash, and for one that cannot be read.
  package func makePlaceholder() -> HashedPlaceholder? {
    // A hash that cannot be read is no reason to show nothing else.
    guard let bitmap = try? entity.placeholderHash?.makeBitmap(proportions: format.size) else {
      return nil
    }
    // As if the hash had all pixels of the image: formats that keep proportions enlarge nothing.
    let factor =
      1 + max(format.size.width / bitmap.size.width, format.size.height / bitmap.size.height)
    let whole = PixelSize(
      width: bitmap.size.width * factor, height: bitmap.size.height * factor)
    let placement = entity.drawing(for: format).placement(
      source: whole, slot: format.size, upTo: format.keepsProportions)
    let part = placement.source
    let (left, top) = (Int(part.x) / factor, Int(part.y) / factor)
    let size = PixelSize(
      width: min(max(Int(part.width) / factor, 1), bitmap.size.width - left),
      height: min(max(Int(part.height) / factor, 1), bitmap.size.height - top))
    guard let cut = try? bitmap.part(x: left, y: top, size) else { return nil }
    return HashedPlaceholder(
      bitmap: cut,
      size: PixelSize(
        width: placement.destination.columns.count, height: placement.destination.rows.count),
      scale: format.scale)
  }
}

extension Bitmap {
  fileprivate func part(x: Int, y: Int, _ size: PixelSize) throws -> Bitmap {
    let pixelByteCount = layout.format.bytesPerPixel
    return try Bitmap(size: size, format: layout.format, colorSpace: colorSpace) { target, new in
      withUnsafeBytes { source in
        for row in 0..<size.height {
          let start = (y + row) * layout.rowBytes + x * pixelByteCount
          let line = UnsafeRawBufferPointer(
            rebasing: source[start..<(start + size.width * pixelByteCount)])
          UnsafeMutableRawBufferPointer(rebasing: target[(row * new.rowBytes)...])
            .copyMemory(from: line)
        }
      }
    }
  }
}
