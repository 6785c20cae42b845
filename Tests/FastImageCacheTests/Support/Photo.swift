import Foundation

@testable import FastImageCache

/// An entity whose every answer a test can set.
struct Photo: ImageEntity {
  var id: ImageID
  var version: ImageID?
  var original: ImageID?
  var url: URL?
  var drawing = Drawing.stretch
  var wantsFamily = true
  var ownImage: (@Sendable (ImageFormat) async throws -> ImageSourceResponse?)?
  var willTellSource: (@Sendable (ImageFormat) -> Void)?

  init(_ id: ImageID, version: ImageID? = nil, url: String? = nil) {
    self.id = id
    self.version = version
    self.url = URL(string: url ?? "test:/\(id)")
  }

  var imageID: ImageID { id }
  private var defaultOriginalID: ImageID { url.map { ImageID($0) } ?? id }
  func sourceURL(for format: ImageFormat) -> URL? { url }
  func versionID(for format: ImageFormat) -> ImageID {
    willTellSource?(format)
    return version ?? url.map { ImageID($0) } ?? id
  }
  func originalID(for format: ImageFormat) -> ImageID { original ?? defaultOriginalID }
  func drawing(for format: ImageFormat) -> Drawing { drawing }
  func prerendersFamily(_ family: String) -> Bool { wantsFamily }
  func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? {
    try await ownImage?(format)
  }
}

extension ImageFormat {
  static let row = ImageFormat("row", capacity: 16)
  static let large = ImageFormat(
    name: "large", family: "photos", size: .exact(PixelSize(width: 40, height: 30)), capacity: 16)
  static let dot = ImageFormat(
    name: "dot", family: "photos", size: .exact(PixelSize(width: 4, height: 4)),
    pixelFormat: .gray8,
    capacity: 16)

  /// One of several squares of a family.
  static func square(_ side: Int, capacity: Capacity = 4) -> ImageFormat {
    ImageFormat("\(side)", side, family: "f", capacity: capacity)
  }

  /// A format of opaque images of a width and a height, which is the width where none is given.
  init(
    _ name: String, _ width: Int = 8, _ height: Int? = nil, isFitting: Bool = false,
    family: String? = nil, scale: Double = 1, capacity: Capacity = 4, devices: Devices = .all,
    protection: Protection = .none, animation: Animation = .firstFrame, lifetime: Duration? = nil
  ) {
    let size = PixelSize(width: width, height: height ?? width)
    self.init(
      name: name, family: family, size: isFitting ? .fitting(size) : .exact(size), scale: scale,
      pixelFormat: .bgrx32, capacity: capacity, devices: devices, protection: protection,
      animation: animation, lifetime: lifetime)
  }

  func with(capacity: Capacity) -> ImageFormat {
    ImageFormat(
      name: name, family: family, size: .exact(size), pixelFormat: pixelFormat, capacity: capacity)
  }
}

/// An image of one colour that follows from `number`, so that wrong pixels can be told.
func solid(_ number: Int, size: PixelSize = PixelSize(width: 16, height: 16)) throws -> Bitmap {
  guard let layout = PixelLayout(size: size, format: .bgrx32) else {
    throw BitmapError.outOfMemory(byteCount: 0)
  }
  return try Bitmap(layout: layout) { bytes in
    for pixel in stride(from: 0, to: bytes.count, by: 4) {
      bytes[pixel] = UInt8(truncatingIfNeeded: number)
      bytes[pixel + 1] = UInt8(truncatingIfNeeded: number >> 8)
      bytes[pixel + 2] = 77
      bytes[pixel + 3] = 255
    }
  }
}

extension CachedImage {
  /// The number that ``solid(_:size:)`` was given, if every pixel of this 32-bit image agrees.
  var solidNumber: Int? {
    withPixels { span -> Int? in
      var number: Int?
      for y in 0..<size.height {
        for x in 0..<size.width {
          let offset = y * layout.rowBytes + x * 4
          let blue = Int(span.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
          let green = Int(span.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self))
          let red = span.unsafeLoad(fromByteOffset: offset + 2, as: UInt8.self)
          guard red == 77, number == nil || number == green << 8 | blue else { return nil }
          number = green << 8 | blue
        }
      }
      return number
    }
  }
}

/// An entity that leaves every image to its source.
struct PlainPhoto: ImageEntity {
  let number: Int
  var scheme = "test:"

  var imageID: ImageID { ImageID(number) }
  func sourceURL(for format: ImageFormat) -> URL? { URL(string: "\(scheme)/\(number)") }
}

extension Fixture {
  /// A cache whose hook a test scripts.
  init(
    _ formats: [ImageFormat] = [.row], source: ScriptedSource = ScriptedSource(),
    willStore hook: @escaping @Sendable (_ image: inout StoredImage) throws -> Void,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    try await self.init(formats, source: source) { configuration in
      configuration.willStore = hook
      configure(&configuration)
    }
  }
}

extension ImageFormat {
  static func wide(_ family: String? = nil) -> ImageFormat {
    ImageFormat(
      name: "wide", family: family, size: .exact(PixelSize(width: 40, height: 4)), capacity: 4)
  }

  static func tall(_ family: String? = nil) -> ImageFormat {
    ImageFormat(
      name: "tall", family: family, size: .exact(PixelSize(width: 4, height: 40)), capacity: 4)
  }
}

/// The errors of hooks.
struct HookError: Error {}

/// The error that the hook threw for an entity.
func hookError<Value>(
  of entity: ImageID?, _ body: () async throws -> Value
) async -> (any Error)? {
  do {
    _ = try await body()
    return nil
  } catch ImageCacheError.willStoreFailed(entity, let underlying) {
    return underlying
  } catch {
    return nil
  }
}

/// Photos with these numbers as ids and in their URLs.
func photos(_ numbers: some Sequence<Int>) -> [Photo] {
  numbers.map { Photo(ImageID($0), url: "test:/\($0)") }
}
