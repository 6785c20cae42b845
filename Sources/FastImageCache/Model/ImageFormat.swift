import ImageCodecs
public import ImageDrawing
public import Pixels
import TableStore

/// The common properties of all images of one table: size, pixel format, and how many are kept.
///
/// A format is a constant in code, so that a request names it by leading dot. The word
/// `nonisolated` is for modules whose code is on the main actor by default:
///
/// ```swift
/// nonisolated extension ImageFormat {
///   static let row = ImageFormat(
///     name: "row", family: "photos", size: .exact(PixelSize(width: 200, height: 200)),
///     pixelFormat: .bgrx32, capacity: 500)
/// }
/// ```
///
/// Changing the size, the pixel format, the revision, the quality, the colour space or between first frames and
/// animations starts the table afresh, and so does another name. Family, devices, scale and protection may change
/// freely: the images stay. So may the capacity: of the images, those stay that still fit, the last ones used.
/// `FICImageFormat` of the original library.
public struct ImageFormat: Sendable {
  /// Shared by all copies of the value, so that a copy costs one reference and the table of a
  /// format is found by one address.
  let fields: Fields

  /// Names the table; unique within a cache, 1 to 255 bytes.
  public var name: String { fields.values.name }

  /// Formats of one family are drawn from the same decode; `nil` for a format without siblings.
  public var family: String? { fields.values.family }

  /// The size of every image, or the largest one if ``keepsProportions`` is set, in pixels.
  public var size: PixelSize { fields.values.size }

  /// Whether each image has its own width and height within ``size`` instead of that very size.
  public var keepsProportions: Bool { fields.values.keepsProportions }

  /// Pixels in a point, for drawing closures and native images; 1 where points do not matter.
  public var scale: Double { fields.values.scale }

  /// How a pixel lies in memory and on disk.
  public var pixelFormat: PixelFormat { fields.values.pixelFormat }

  /// A number to change when drawings change: images of another revision are not valid any more.
  public var revision: Int { fields.values.revision }

  /// How many images are kept before the least recently used one makes room.
  public var capacity: Capacity { fields.values.capacity }

  /// The kinds of device on which images of this format are stored; on any other they are drawn
  /// anew for each request.
  public var devices: Devices { fields.values.devices }

  /// When the file may be read on a locked device; effective on Apple platforms.
  public var protection: Protection { fields.values.protection }

  /// How many of a source's pixels an image is drawn from.
  public var quality: Quality { fields.values.quality }

  /// The colours that the pixels' numbers stand for.
  ///
  /// A phone's photographs are in Display P3, and so are its screen's colours; in sRGB, the most saturated ones
  /// become duller. ``PixelFormat/gray8`` has no colours, and counts as sRGB.
  public var colorSpace: ColorSpace { fields.values.colorSpace }

  /// Which frames of images that move are kept.
  public var animation: Animation { fields.values.animation }

  /// How long images are kept from ``lifetimeStart-swift.property`` on; `nil` for as long as there is room.
  ///
  /// A cache removes older images in the background after it has opened its tables, and then each hour. Until then an
  /// image is found; a hit asks for no age, and costs the same. A kept original stays, and draws the image again. New
  /// metadata and another id count as a store. The clock of the device decides, so setting it forward may remove
  /// images.
  public var lifetime: Duration? { fields.values.lifetime }

  /// The moment from which ``lifetime`` counts; each image's store by default.
  public var lifetimeStart: LifetimeStart { fields.values.lifetimeStart }

  /// Creates a format.
  ///
  /// ```swift
  /// let row = ImageFormat(name: "row", size: .exact(PixelSize(width: 200, height: 200)))
  /// let page = ImageFormat(name: "page", size: .fitting(PixelSize(width: 800, height: 600)))
  /// let tile = ImageFormat(
  ///   name: "tile", size: .exact(points: Canvas.Size(width: 60, height: 60)), scale: 3)
  /// ```
  ///
  /// - Parameters:
  ///   - name: Names the table; unique within a cache, 1 to 255 bytes.
  ///   - family: Formats drawn together from one decode.
  ///   - size: The size of every image, or the size that no image exceeds, in pixels or in points.
  ///   - scale: Pixels in a point, as the screen has them.
  ///   - pixelFormat: How a pixel lies in memory and on disk.
  ///   - revision: Another number than before starts the table afresh; 0 to 4 294 967 295.
  ///   - capacity: A count of images, or of bytes on disk; ``Capacity/standard`` by default.
  ///   - devices: Where images of this format are stored.
  ///   - protection: When the file may be read on a locked Apple device.
  ///   - quality: How many of a source's pixels an image is drawn from.
  ///   - colorSpace: The colours that the pixels' numbers stand for.
  ///   - animation: Which frames of images that move are kept.
  ///   - lifetime: How long images are kept, to the hour; as long as there is room if `nil`.
  ///   - lifetimeStart: The moment from which the lifetime counts.
  public init(
    name: String, family: String? = nil, size: Size, scale: Double = 1,
    pixelFormat: PixelFormat = .bgra32, revision: Int = 0, capacity: Capacity = .standard,
    devices: Devices = .all,
    protection: Protection = .none, quality: Quality = .balanced, colorSpace: ColorSpace = .sRGB,
    animation: Animation = .firstFrame, lifetime: Duration? = nil,
    lifetimeStart: LifetimeStart = .store
  ) {
    fields = Fields(
      Values(
        name: name, family: family, size: size.pixels(scale), keepsProportions: size.isFitting,
        scale: scale, pixelFormat: pixelFormat, revision: revision, capacity: capacity,
        devices: devices, protection: protection, quality: quality,
        colorSpace: pixelFormat == .gray8 ? .sRGB : colorSpace, animation: animation,
        lifetime: lifetime, lifetimeStart: lifetimeStart))
  }

  /// One size for all images of a format, or a size that none of them exceeds.
  public struct Size: Sendable {
    fileprivate let pixels: @Sendable (_ scale: Double) -> PixelSize
    fileprivate let isFitting: Bool

    /// Every image has this size in pixels.
    public static func exact(_ size: PixelSize) -> Size {
      Size(pixels: { _ in size }, isFitting: false)
    }

    /// Every image has this size in points; each side is rounded to the nearest pixel of the format's scale.
    ///
    /// The size in pixels decides whether images of an earlier session are still valid, so a screen of another
    /// scale starts the table afresh.
    public static func exact(points: Canvas.Size) -> Size {
      Size(pixels: { PixelSize(points, scale: $0) }, isFitting: false)
    }

    /// Images keep their own proportions within this size in pixels, and their own size where that is smaller.
    ///
    /// Each image takes the room of the whole size on disk.
    public static func fitting(_ largest: PixelSize) -> Size {
      Size(pixels: { _ in largest }, isFitting: true)
    }

    /// Images keep their own proportions within this size in points, and their own size where that is smaller;
    /// each side of the limit is rounded to the nearest pixel of the format's scale.
    public static func fitting(points largest: Canvas.Size) -> Size {
      Size(pixels: { PixelSize(largest, scale: $0) }, isFitting: true)
    }
  }
}

extension ImageFormat: CustomStringConvertible {
  /// The name and the size: `row 200x200`, or `page up to 800x600`.
  public var description: String { "\(name) \(keepsProportions ? "up to " : "")\(size)" }
}

extension ImageFormat: Hashable, Codable {
  /// All properties of a format.
  struct Values: Hashable, Sendable, Codable {
    let name: String
    let family: String?
    let size: PixelSize
    let keepsProportions: Bool
    let scale: Double
    let pixelFormat: PixelFormat
    let revision: Int
    let capacity: Capacity
    let devices: Devices
    let protection: Protection
    let quality: Quality
    var colorSpace: ColorSpace
    let animation: Animation
    let lifetime: Duration?
    let lifetimeStart: LifetimeStart
  }

  final class Fields: Sendable {
    let values: Values

    init(_ values: Values) { self.values = values }
  }

  /// Compares everything; copies of one value at the cost of an address.
  public static func == (first: ImageFormat, second: ImageFormat) -> Bool {
    first.fields === second.fields || first.fields.values == second.fields.values
  }

  /// Feeds everything that `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(fields.values) }

  /// Reads the output of ``encode(to:)``.
  public init(from decoder: any Decoder) throws {
    var values = try Values(from: decoder)
    if values.pixelFormat == .gray8 { values.colorSpace = .sRGB }
    fields = Fields(values)
  }

  /// Writes one keyed value for each property.
  public func encode(to encoder: any Encoder) throws { try fields.values.encode(to: encoder) }
}

extension ImageFormat {
  /// How much a table keeps.
  ///
  /// The table's file never exceeds it. A file that was emptied or suspended lives beside the new one
  /// while leases on its images last, and a process that opens another one's table has a file of
  /// the same capacity for itself meanwhile.
  public enum Capacity: Hashable, Sendable, Codable, ExpressibleByIntegerLiteral {
    /// At most this many images.
    case count(Int)

    /// As many images as fit into a file of this many bytes; one must, or the format is refused.
    case bytes(Int)

    /// What a format keeps that says nothing: 64 MiB on disk.
    ///
    /// That is some 370 images of 200 x 200 pixels in 32 bits, or 45 of 600 x 600: several screens
    /// of a list or a grid in each case, and so little that a few formats are no burden on a phone. A
    /// list of thousands wants more, and a format of more than 16 million pixels needs more for one.
    public static let standard = Capacity.bytes(64 << 20)

    /// A count of images.
    public init(integerLiteral value: Int) { self = .count(value) }
  }

  /// The frames of images that move.
  public enum Animation: Hashable, Sendable, Codable {
    /// The first one; the image is a still.
    case firstFrame

    /// Each frame has a slot, so that a frame that was shown once is never decoded again.
    ///
    /// Frames count in ``ImageFormat/capacity-swift.property``. An animation whose slots take more bytes than the
    /// limit, or that the table has no room for, is decoded while it plays; its first frame is kept.
    case allFrames(byteLimit: Int)
  }

  /// The moment from which a lifetime counts.
  public enum LifetimeStart: String, Hashable, Sendable, Codable {
    /// The image was stored.
    case store

    /// The image was used last: a hit is a use, and so are a lease on the image and its store.
    ///
    /// Uses count from the first opening with this start on, and are known to the hour; for a lifetime of more than
    /// twenty days to a five-hundredth of it. Where processes share a folder, those of the table's owner count. Uses
    /// are written every five minutes, and at ``ImageCache/flush()``, suspension and closing; a process that is killed
    /// loses those since. Call ``ImageCache/flush()`` when the program goes into the background, and before it quits.
    ///
    /// A lease of before a suspension is no use after it, and of a table whose file is not mapped
    /// (``Protection/complete``, network volumes) none is. A change of the capacity counts as a use of every image. A
    /// clock that stands too early notes no uses: images are kept for longer.
    case lastUse
  }

  /// Kinds of device, as a set.
  public struct Devices: OptionSet, Hashable, Sendable, Codable {
    /// One bit for each kind.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// iPhone and iPod touch.
    public static let phone = Devices(rawValue: 1 << 0)
    /// iPad.
    public static let pad = Devices(rawValue: 1 << 1)
    /// Mac and Linux desktops and servers.
    public static let desktop = Devices(rawValue: 1 << 2)
    /// Apple TV.
    public static let tv = Devices(rawValue: 1 << 3)
    /// Apple Watch.
    public static let watch = Devices(rawValue: 1 << 4)
    /// Apple Vision.
    public static let headset = Devices(rawValue: 1 << 5)
    /// Every kind, those to come included.
    public static let all = Devices(rawValue: .max)
  }

  /// When a table's file may be read; the classes of Apple's data protection, without effect elsewhere.
  ///
  /// A table that cannot be read is not lost: opening the cache then throws
  /// ``ImageCacheError/protectedDataUnavailable(format:)``, and so do requests for images of a table that was
  /// opened before.
  public enum Protection: String, Hashable, Sendable, Codable {
    /// Always.
    case none
    /// While the device is unlocked. Leases stay valid: each hit is a checked copy in private memory,
    /// which takes tens of microseconds instead of a fraction of one. Such a table is not mapped, since
    /// reading a mapped page of a locked file would end the process.
    case complete
    /// From the first unlock after a restart.
    case untilFirstUnlock
  }
}

extension ImageFormat {
  /// How many bytes of metadata an image of this format can have, whatever its ids: 928 for most
  /// formats, less for images below 4096 bytes, 32 at least.
  public var metadataByteLimit: Int {
    guard let layout = PixelLayout(size: size, format: pixelFormat) else { return 0 }
    return TableGeometry(
      width: size.width, height: size.height, rowByteCount: layout.rowBytes, pixelFormat: 0
    ).metadataByteLimit - (hasAnimations ? SlotMotion.leastByteCount : 0)
  }

  /// Whether images of this format may have more than one frame.
  var hasAnimations: Bool { animation != .firstFrame }

  /// The largest width or height of a format, in pixels.
  static let largestSide = 32_767

  /// Why this format cannot have a table; `nil` for a good one.
  var problem: String? {
    if name.isEmpty || name.utf8.count > 255 { return "its name has \(name.utf8.count) bytes" }
    if !size.isPositive || size.width > Self.largestSide || size.height > Self.largestSide {
      return "its size is \(size); each side must be 1 to \(Self.largestSide) pixels"
    }
    if UInt32(exactly: revision) == nil {
      return "its revision is \(revision); it must be 0 to \(UInt32.max)"
    }
    if !scale.isFinite || scale <= 0 { return "its scale is \(scale)" }
    switch capacity {
    case .count(let count) where count < 1 || count > TableCapacity.maximumSlotCount:
      return "its capacity is \(count) images; it must be 1 to \(TableCapacity.maximumSlotCount)"
    case .bytes(let bytes) where bytes < 1:
      return "its capacity is \(bytes) bytes"
    default: break
    }
    if let lifetime, lifetime <= .zero {
      return "its lifetime is \(lifetime); it must be longer than nothing"
    }
    if case .allFrames(let byteLimit) = animation, byteLimit < 0 {
      return "its limit for animations is \(byteLimit) bytes"
    }
    return nil
  }
}

extension ImageFormat {
  /// How many of a source's pixels an image is drawn from.
  ///
  /// A JPEG file can be decoded at 1/8, 1/4 and 1/2 of its size, in less time and less memory than in full. The
  /// reduction to the format's size hides what such a decode leaves out, the better the more pixels it has.
  /// Of formats in one family, which share a decode, each gets at least what it asks for.
  public enum Quality: String, Hashable, Sendable, Codable {
    /// Fast, and close to a drawing from all pixels: 48 decibels or more on 45 photographs at 200 x 200, and 54 or
    /// more on average.
    ///
    /// From 1.85 times the size drawn on for JPEG at 1/8, from 2.3 times on for 1/4 and 1/2, from twice the size on
    /// for other kinds of files. Where the decode would exceed the limits of memory, from 1.62 times, twice and 1.75
    /// times the size on, with fewer decibels.
    case balanced

    /// Closer to it: 50 decibels or more on the same photographs, for fine patterns such as fabric, hair and text.
    ///
    /// Half as many pixels again across and down as ``balanced``, so that some images are decoded at the next larger
    /// scale: 12 megapixels at 200 x 200 at 1/4 instead of 1/8. An image whose decode would exceed the limits of
    /// memory is decoded as with ``balanced``, whose sizes shrink likewise.
    case best
  }
}

extension ImageFormat.Quality {
  var margin: DecodeMargin {
    switch self {
    case .balanced: .balanced
    case .best: .best
    }
  }
}
