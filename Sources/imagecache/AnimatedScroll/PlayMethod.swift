import FastImageCache
import ImageCodecs

/// One way to get the frames of animations while they play.
protocol PlayMethod {
  associatedtype Image: ReadableImage

  static var name: String { get }

  /// - Parameter index: Rises by little within a loop, and begins anew with 0.
  mutating func frame(_ index: Int, of animation: Int) throws -> Image
}

/// The frames lie decoded in a memory-mapped table.
struct TablePlaying: PlayMethod {
  static let name = "image table"

  let animations: [CachedAnimation]

  func frame(_ index: Int, of animation: Int) -> CachedImage {
    animations[animation].frame(at: index).image
  }
}

/// Each frame is decoded and drawn in each loop. Each animation has a decoder that knows the frame before.
struct DecodePlaying: PlayMethod {
  static let name = "decode in each loop"

  private let files: [AnimatedFile]
  private let size: PixelSize
  private let format: PixelFormat
  private var readers: [(reader: any FrameReader, next: Int)]

  init(_ files: [AnimatedFile], _ size: PixelSize, _ format: PixelFormat) throws {
    (self.files, self.size, self.format) = (files, size, format)
    readers = try files.map { (try $0.makeReader(), 0) }
  }

  mutating func frame(_ index: Int, of animation: Int) throws -> Bitmap {
    if readers[animation].next > index {
      readers[animation] = (try files[animation].makeReader(), 0)
    }
    while let frame = try readers[animation].reader.next() {
      readers[animation].next += 1
      guard readers[animation].next > index else { continue }
      return try frame.drawn(AnimatedScroll.drawing, size, format)
    }
    throw ImageDecodingError.truncated
  }
}
