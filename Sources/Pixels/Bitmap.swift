#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Decoded pixels in private memory, unchanged from creation on.
///
/// Copies share the same memory, so passing a bitmap on costs nothing.
public struct Bitmap: Sendable {
  /// Size, pixel format and row bytes.
  public let layout: PixelLayout

  /// The colours that the pixels' numbers stand for.
  ///
  /// A decoder may leave the numbers as they are in its file, and attach a conversion; the cache converts such
  /// a bitmap before anybody else sees it.
  public let colorSpace: ColorSpace

  /// Turns the colours of a file into a ``ColorSpace``; `nil` when they are in ``colorSpace`` already.
  package let colorConversion: (any ColorConversion)?

  /// The part of the bitmap that shows the image: all of it, unless a decoder scaled the image.
  package let edges: ImageEdges

  /// Whether the image's file is cut short or damaged within, and the bitmap shows a part of it.
  ///
  /// A decoder says so; a cache stores what is drawn from the bitmap with a mark.
  public var isDamaged = false

  private let storage: BitmapStorage

  /// Width and height in pixels.
  public var size: PixelSize { layout.size }

  /// Creates a bitmap and has its pixels written by `fill`.
  ///
  /// ```swift
  /// let layout = PixelLayout(for: PixelSize(width: 2, height: 2), format: .gray8)
  /// let white = try Bitmap(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: 255) }
  /// ```
  ///
  /// - Parameters:
  ///   - layout: Size, format and row bytes.
  ///   - colorSpace: The colours that the numbers stand for.
  ///   - fill: Receives `layout.byteCount` zeroed bytes, the top row first, and writes them.
  /// - Throws: ``BitmapError/outOfMemory(byteCount:)`` when there is no memory, and every error of
  ///   `fill`.
  public init(
    layout: PixelLayout, colorSpace: ColorSpace = .sRGB,
    filling fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    try self.init(layout: layout, colorConversion: nil, colorSpace: colorSpace, filling: fill)
  }

  /// Creates a bitmap of a size, with rows as tables and decoders have them.
  ///
  /// ```swift
  /// let white = try Bitmap(size: PixelSize(width: 2, height: 2), format: .gray8) { bytes, _ in
  ///   bytes.initializeMemory(as: UInt8.self, repeating: 255)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - size: In pixels.
  ///   - format: How one pixel lies in memory.
  ///   - colorSpace: The colours that the numbers stand for.
  ///   - fill: Receives zeroed bytes, the top row first, and how the pixels have to lie in them.
  /// - Throws: ``BitmapError/invalidSize(_:)``, ``BitmapError/outOfMemory(byteCount:)``, and whatever
  ///   `fill` throws.
  public init(
    size: PixelSize, format: PixelFormat, colorSpace: ColorSpace = .sRGB,
    filling fill: (UnsafeMutableRawBufferPointer, PixelLayout) throws -> Void
  ) throws {
    guard let layout = PixelLayout(size: size, format: format) else {
      throw BitmapError.invalidSize(size)
    }
    try self.init(layout: layout, colorSpace: colorSpace) { try fill($0, layout) }
  }

  /// - Parameter edges: The image's edges; `nil` for those of the bitmap.
  package init(
    layout: PixelLayout, colorConversion: (any ColorConversion)?, edges: ImageEdges? = nil,
    colorSpace: ColorSpace = .sRGB,
    filling fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    guard let storage = BitmapStorage(byteCount: layout.byteCount) else {
      throw BitmapError.outOfMemory(byteCount: layout.byteCount)
    }
    try fill(storage.bytes)
    self.init(storage, layout, colorSpace, colorConversion, edges)
  }

  /// Creates a bitmap whose pixels `fill` writes, every one of them. Only the padding at the ends
  /// of the rows is zeroed before. Without `edges`, the bitmap's are the image's.
  ///
  /// Returns `nil` when there is no memory.
  package init?<Failure: Error>(
    unfilled layout: PixelLayout, colorConversion: (any ColorConversion)? = nil,
    edges: ImageEdges? = nil, colorSpace: ColorSpace = .sRGB,
    filling fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    guard let storage = BitmapStorage(layout: layout) else { return nil }
    try fill(storage.bytes)
    self.init(storage, layout, colorSpace, colorConversion, edges)
  }

  private init(
    _ storage: BitmapStorage, _ layout: PixelLayout, _ colorSpace: ColorSpace,
    _ colorConversion: (any ColorConversion)?, _ edges: ImageEdges?
  ) {
    self.layout = layout
    self.colorSpace = colorSpace
    self.colorConversion = colorConversion
    self.edges = edges ?? ImageEdges(filling: layout.size, fullSize: layout.size)
    self.storage = storage
  }

  /// The same pixels with other edges of the image.
  package func withEdges(_ edges: ImageEdges) -> Bitmap {
    var bitmap = Bitmap(storage, layout, colorSpace, colorConversion, edges)
    bitmap.isDamaged = isDamaged
    return bitmap
  }

  /// The conversion that brings the pixels into a space; `nil` where they are in it already.
  package func conversion(to space: ColorSpace) -> (any ColorConversion)? {
    if let colorConversion { return colorConversion }
    return colorSpace == space ? nil : SpaceConversion(from: colorSpace)
  }

  /// Creates a bitmap by copying pixels from elsewhere.
  ///
  /// - Parameters:
  ///   - bytes: The pixels, top row first; bytes after the last row are ignored.
  ///   - layout: How they lie in `bytes`.
  ///   - colorSpace: The colours that the numbers stand for.
  /// - Throws: ``BitmapError/tooFewBytes(_:needed:)`` when `bytes` end before the last row does,
  ///   ``BitmapError/outOfMemory(byteCount:)`` when the copy finds no memory.
  public init(
    copying bytes: some Sequence<UInt8>, layout: PixelLayout, colorSpace: ColorSpace = .sRGB
  ) throws {
    let copied = try bytes.withContiguousStorageIfAvailable { source in
      try Bitmap(layout: layout, colorSpace, copying: UnsafeRawBufferPointer(source))
    }
    if let copied {
      self = copied
    } else {
      self = try Array(bytes).withUnsafeBytes {
        try Bitmap(layout: layout, colorSpace, copying: $0)
      }
    }
  }

  private init(
    layout: PixelLayout, _ colorSpace: ColorSpace, copying source: UnsafeRawBufferPointer
  ) throws {
    guard source.count >= layout.byteCount else {
      throw BitmapError.tooFewBytes(source.count, needed: layout.byteCount)
    }
    try self.init(layout: layout, colorSpace: colorSpace) { target in
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<layout.byteCount]))
    }
  }

  /// Lends the pixels, top row first, for the length of `body`.
  public func withPixels<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(storage.bytes).bytes)
  }

  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(storage.bytes))
  }
}

/// Why a ``Bitmap`` could not be made.
@nonexhaustive public enum BitmapError: Error, Hashable {
  /// A side is below one pixel, or the bytes cannot be counted in an `Int`.
  case invalidSize(PixelSize)

  /// A canvas cannot have so many pixels to a point: the scale is not positive, or not finite.
  case invalidScale(Double)

  /// A BlurHash or the bytes of a ThumbHash that no encoder writes.
  case invalidHash(String)

  /// The pixels given end before the last row does.
  case tooFewBytes(Int, needed: Int)

  /// The system has no memory for that many bytes.
  case outOfMemory(byteCount: Int)
}

extension BitmapError: CustomStringConvertible {
  /// One sentence that names the offending value; in English.
  public var description: String {
    switch self {
    case .invalidSize(let size): "There is no bitmap of \(size) pixels."
    case .invalidScale(let scale): "A canvas cannot have \(scale) pixels to a point."
    case .invalidHash(let hash): "This is no hash of an image: \(hash)."
    case .tooFewBytes(let count, let needed): "The bitmap needs \(needed) bytes, not \(count)."
    case .outOfMemory(let count): "There is no memory for a bitmap of \(count) bytes."
    }
  }
}

/// Sole owner of one bitmap's memory.
///
/// `@unchecked Sendable` is safe because the bytes are written only before the initialiser of the
/// `Bitmap` that owns this object returns, and only read afterwards.
private final class BitmapStorage: @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer

  /// `bytes` begins at its first aligned address.
  private let block: SpareMemory.Block

  /// Zeroed memory, since `fill` need not write the padding of rows. Without memory this returns
  /// `nil` and does not trap, because the count comes from untrusted files.
  convenience init?(byteCount: Int) {
    self.init(raw: byteCount)
    if let start = bytes.baseAddress { memset(start, 0, byteCount) }
  }

  /// Memory of which only the padding of rows is zeroed, for callers that write every pixel.
  convenience init?(layout: PixelLayout) {
    self.init(raw: layout.byteCount)
    let used = layout.size.width * layout.format.bytesPerPixel
    guard used < layout.rowBytes, let start = bytes.baseAddress else { return }
    for row in 0..<layout.size.height {
      memset(start + row * layout.rowBytes + used, 0, layout.rowBytes - used)
    }
  }

  /// Aligns by hand. Blocks of `posix_memalign(3)` do not fit the holes that freed ones left: a
  /// dozen decodes of one 32 MB image grew the process to 266 MB (glibc 2.36) instead of 78.
  private init?(raw byteCount: Int) {
    let alignment = PixelLayout.rowAlignment
    let (padded, overflow) = byteCount.addingReportingOverflow(alignment)
    guard !overflow, let block = SpareMemory.shared.take(byteCount: padded) else { return nil }
    self.block = block
    bytes = UnsafeMutableRawBufferPointer(
      start: block.start.alignedUp(toMultipleOf: alignment), count: byteCount)
  }

  deinit { SpareMemory.shared.give(block) }
}
