public import Foundation
public import Pixels

/// Turns one kind of encoded image into pixels.
///
/// The cache asks its decoders in order and takes the first that recognises the bytes, whatever the
/// file's name and the server's content type. It calls ``decode(_:_:)`` on worker threads, and the other methods also
/// on threads of Swift's pool and on the thread that delivers a file, so those have to be quick. Calls come on several
/// threads at once, and never on an actor. A decoder must not block for an image of the cache: decoding that image needs
/// a worker thread too, and when all of them wait, none goes on.
///
/// On Linux that worker thread may be nicer than the main thread, and threads that it begins stay as nice, for
/// good. So ``decode(_:_:)`` should make no `Task { }`, cancel and resume no task and dispatch nothing: each of
/// these may begin a thread of the pool that all tasks share. Threads that are there already keep their niceness.
public protocol ImageDecoder: Sendable {
  /// Whether this decoder decodes files with these first bytes.
  ///
  /// - Parameter firstBytes: Up to 64 bytes from the start of the file.
  func recognizes(_ firstBytes: Data) -> Bool

  /// Reads size and kind before any pixel is decoded, and takes memory for nothing but the result.
  ///
  /// - Throws: ``ImageDecodingError`` for a header that is damaged, cut short or of an unsupported
  ///   kind.
  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader

  /// The private memory that ``decode(_:_:)`` will take at its peak, in bytes, result included.
  ///
  /// The cache admits decodes by this number and refuses those above its budget.
  func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int

  /// Decodes the image upright, in sRGB, in the request's colour space or with its colour conversion
  /// attached, and with colours multiplied by alpha.
  ///
  /// The cache takes the edges of the result for the image's.
  ///
  /// An image that is cut short or damaged within is an error, since a cache would keep its gray half. Under
  /// ``DamagedImagePolicy/showPart`` a decoder may show the part that is there, and says so by
  /// ``Bitmap/isDamaged``; one that knows nothing of it goes on throwing.
  ///
  /// - Throws: ``ImageDecodingError``.
  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap
}

extension ImageDecoder {
  /// Four bytes for each pixel of the full image.
  public func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
    (header.size.pixelCount ?? .max).multipliedClamped(by: 4)
  }
}

/// The size, the limits and the cancellation of one decode.
public struct DecodeRequest: Sendable {
  /// The result may be smaller than the image but not smaller than this in either dimension;
  /// `nil` asks for every pixel. Upright, in pixels.
  ///
  /// The cache asks for at least twice the size at which the image is shown, or for all of it, and for less only
  /// where memory is short. A decoder may leave out detail that is invisible once its result is halved.
  public var minimumSize: PixelSize?

  /// Whether ``minimumSize`` is a size of ``DecodeMargin``. A decoder that knows how it reduces may then go by a
  /// margin of its own, which may be smaller.
  package var hasMargin = false

  /// The part of the upright image that will be drawn, in pixels of its full size; `nil` is all of it.
  ///
  /// A decoder may leave out what lies beside it, and says by ``Bitmap/edges`` where the image's edges are.
  package var region: ImageRegion?

  /// The widest colour space of the images that will be drawn from the result.
  ///
  /// A decoder that converts colours by itself should give the result this space; a result in sRGB, which is
  /// always right, lacks the colours beyond.
  public var colorSpace = ColorSpace.sRGB

  /// What to do with an image that is cut short or damaged within.
  public var damagedImages = DamagedImagePolicy.refuse

  /// What the program tells a decoder of its own, such as the exposure of a raw photograph; the library's decoders
  /// know none. ``ImageDecoder/header(of:)`` is asked without them.
  public var settings: [String: String] = [:]

  /// The limits on the cost of this decode.
  public var limits: DecodingLimits

  /// Once it answers `true` the decode ends with ``ImageDecodingError/cancelled``.
  ///
  /// The decoders for Linux ask between strips of rows, or between pieces of the file. ImageIO
  /// decodes in one call, so the one for Apple platforms asks before and after.
  public var isCancelled: @Sendable () -> Bool

  /// Creates a request.
  public init(
    minimumSize: PixelSize? = nil, limits: DecodingLimits = DecodingLimits(),
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.minimumSize = minimumSize
    self.limits = limits
    self.isCancelled = isCancelled
  }
}

/// Limits on the memory and the time that decoding one image takes.
///
/// The memory is what the decode takes at the size that is asked for, so a thumbnail is drawn of an image that
/// would not fit as a whole: of a JPEG file of 200 megapixels within 20 MB, and of a HEIC or AVIF file of 48
/// megapixels within 256 MiB. Files that do not store their pixels from top to bottom need memory for all of
/// them: ``ImageHeader/wholeImageByteCount``.
///
/// The cache holds every decoder to the limits, also a user's own: it checks the file's length before it
/// asks a decoder, and the rest from the header, before the decode takes memory. The error says what the decode
/// would take, and for what.
public struct DecodingLimits: Hashable, Sendable {
  /// The largest encoded file, in bytes: 100 MiB by default.
  public var encodedByteCount = 100 << 20

  /// The largest width or height, in pixels: by default PNG's own limit, the highest of all formats.
  ///
  /// Rows of long sides count in ``workingByteCount``.
  public var sideLength = Int(Int32.max)

  /// The most pixels of the image as it is stored, which bounds the time: by default 256 Mi pixels.
  ///
  /// A decoder goes through all pixels at whatever size it decodes to. So many take one to ten seconds, by the kind
  /// of file, and a PNG file of 33 kB can have them.
  public var pixelCount = 256 << 20

  /// The most private memory that one decode may take, in bytes: 256 MiB by default.
  public var workingByteCount = 256 << 20

  /// The most frames of an animation that are read: 4096 by default, a minute at 60 frames a second.
  ///
  /// A list of the frames is held in memory, and a file of 64 kB can announce thousands of them.
  public var frameCount = 4096

  /// The most pixels of all frames of an animation together, each counted on the whole canvas, which bounds the time:
  /// by default 1 Gi pixels, 4096 frames of 512 x 512.
  public var animationPixelCount = 1 << 30

  /// The most time that the processor may take to read the frames of one animation once: a minute by default.
  package var animationTime = Duration.seconds(60)

  /// Creates the default limits.
  public init() {}
}

/// What becomes of an image whose file is cut short or damaged within.
///
/// The decoders of the library for Linux show parts of JPEG, PNG, WebP and GIF files:
/// - of a file that is cut, the rows that came; of progressive JPEG and interlaced PNG files the whole image, as far as
///   their scans and passes came,
/// - of a JPEG file that is damaged within, what libjpeg makes of it.
///
/// Missing pixels are transparent in images with transparency, and gray in others. HEIF and AVIF files, animated WebP
/// files without their first frame, and files without a readable head or a single row, are refused in any case.
/// ImageIO, on Apple platforms, refuses all.
public enum DamagedImagePolicy: String, CaseIterable, Hashable, Sendable, Codable {
  /// The image is an error.
  case refuse

  /// The part that is there is the image.
  case showPart
}

/// Why encoded bytes did not become an image.
@nonexhaustive public enum ImageDecodingError: Error, Hashable, Sendable {
  /// No decoder recognises the first bytes.
  case unknownType

  /// The bytes end before the image does.
  case truncated

  /// The bytes contradict their format; the text says where.
  case damaged(String)

  /// The decoder does not support this variant of the format; the text names the variant.
  case unsupported(String)

  /// The image exceeds a limit; the text names the limit and both numbers.
  case tooLarge(String)

  /// The system has no memory for the decode.
  case outOfMemory

  /// The request was cancelled.
  case cancelled
}
