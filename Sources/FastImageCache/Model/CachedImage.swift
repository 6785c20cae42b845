public import Foundation
public import Pixels
package import TableStore

/// An image that is ready to be shown: a lease on the slot that holds its pixels.
///
/// The pixels never change while this value, or a copy of it, exists: other images go to other
/// slots. Keep it as long as the image is on screen and no longer, because a leased slot cannot
/// make room for another image.
///
/// A copy costs one reference count; the pixels stay in the mapped file.
public struct CachedImage: Sendable {
  package let entry: TableEntry

  private let pixelFormat: PixelFormat

  /// Pixels in a point, as the format declares.
  public let scale: Double

  // Few properties, so that functions return the value in registers; the layout follows from these.
  init(entry: TableEntry, pixelFormat: PixelFormat, scale: Double) {
    self.entry = entry
    self.pixelFormat = pixelFormat
    self.scale = scale
  }

  /// Size, pixel format and row bytes.
  public var layout: PixelLayout { PixelLayout(for: size, format: pixelFormat) }

  /// Width and height in pixels.
  public var size: PixelSize { PixelSize(width: entry.extent.width, height: entry.extent.height) }

  /// The colours that the pixels' numbers stand for; the format's.
  public var colorSpace: ColorSpace { ImageCode.colorSpace(of: entry.pixelFormat) }

  /// Width and height of the source's image in pixels, once it stands upright: of the file, or of the bitmap that a
  /// source or an entity gave.
  ///
  /// `nil` for an image that was stored by hand or by an earlier version, for frames of an animation behind the first,
  /// and for small images whose ids and metadata leave no room for it. A hook does not change it.
  ///
  /// Cost: each call reads the slot. A hit that does not ask pays nothing for it.
  public var sourceSize: PixelSize? {
    entry.source.map { PixelSize(width: Int($0.width), height: Int($0.height)) }
  }

  /// Whether the pixels live in private memory instead of a mapped file.
  ///
  /// No table could take a private image, because all slots are leased, the disk is full, or the
  /// format is not stored on this kind of device; or ``ImageCache/Configuration/willStore`` has it
  /// delivered only. Or it is a copy from a table that another process
  /// owns, or whose volume or class of protection makes mapping unsafe.
  public var isPrivate: Bool { entry.isPrivate }

  /// Whether the image shows a part of a damaged file (``DamagedImagePolicy/showPart``).
  ///
  /// Cost: each call reads the slot. A hit that does not ask pays nothing for it.
  public var isDamaged: Bool { entry.isDamaged }

  /// Lends the pixels, top row first, for the length of `body`.
  ///
  /// ```swift
  /// let image = try await cache.image(for: photo, format: .row)
  /// let blue = image.withPixels { $0.unsafeLoad(as: UInt8.self) }
  /// ```
  ///
  /// The first touch of a page may wait for the disk; ``prepareForDisplay()`` waits in advance.
  public func withPixels<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try entry.withPixels { bytes throws(Failure) in
      try body(UnsafeRawBufferPointer(rebasing: bytes[..<layout.byteCount]).bytes)
    }
  }

  /// The bytes that were stored beside the pixels; `nil` if there are none.
  ///
  /// They are verified together with the pixels, and stay as they are while this value exists.
  ///
  /// Cost: a copy from the slot at each call. A hit that does not ask pays nothing for it.
  public var metadata: Data? {
    let bytes =
      ImageCode.hasAnimations(entry.pixelFormat)
      ? SlotMotion.parting(entry.metadata).metadata : entry.metadata[...]
    return bytes.isEmpty ? nil : Data(bytes)
  }

  /// What the slot tells of frames behind this one; each call reads the slot.
  package var motion: SlotMotion {
    ImageCode.hasAnimations(entry.pixelFormat)
      ? SlotMotion.parting(entry.metadata).motion : .still
  }

  /// The stored metadata, decoded from JSON; `nil` if there is none.
  ///
  /// ```swift
  /// struct Caption: Codable {
  ///   let text: String
  /// }
  ///
  /// let image = try await cache.image(for: photo, format: .row)
  /// let caption = try image.metadata(as: Caption.self)
  /// ```
  ///
  /// - Throws: `DecodingError` for bytes that are no such value.
  public func metadata<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value? {
    try metadata.map { try JSONDecoder().decode(type, from: $0) }
  }

  /// Copies the pixels into private memory; the copy needs no lease.
  ///
  /// - Throws: ``BitmapError/outOfMemory(byteCount:)``.
  public func makeBitmap() throws -> Bitmap {
    var bitmap = try Bitmap(layout: layout, colorSpace: colorSpace) { target in
      entry.withPixels { bytes in
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<layout.byteCount]))
      }
    }
    bitmap.isDamaged = isDamaged
    return bitmap
  }

  /// Touches every page of the image, so that showing it waits for no disk.
  ///
  /// Call it off the main thread, for images about to appear. `preheat` of the original library.
  @concurrent public func prepareForDisplay() async {
    withPixels { span in
      var sum: UInt8 = 0
      for offset in stride(from: 0, to: span.byteCount, by: 4096) {
        sum &+= span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      }
      // The sum keeps the optimiser from dropping the loop.
      withExtendedLifetime(sum) {}
    }
  }
}

extension CachedImage: Hashable {
  /// Whether both are leases on one image, so that a view notices that it was given another.
  ///
  /// Compares addresses and no pixels. An image that was stored anew differs from the old one, however
  /// it looks. Private copies (``isPrivate``) differ from each other, but for copies of this value. So do
  /// two hits on a table that is copied from, because it is suspended, protected or another process's,
  /// and two hits with a suspension between them.
  public static func == (first: CachedImage, second: CachedImage) -> Bool {
    // Both leases keep their slots as they are: one address is one image.
    first.address == second.address && first.pixelFormat == second.pixelFormat
      && first.scale == second.scale
  }

  /// Feeds the address that `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(address) }

  private var address: UnsafeRawPointer? { entry.pixels.baseAddress }
}
