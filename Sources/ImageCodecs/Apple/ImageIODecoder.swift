#if canImport(ImageIO)
  import CoreGraphics
  import Foundation
  import ImageIO
  import Pixels

  /// This platform's part of ``ImageDecoders/standard``: all of it.
  let systemDecoders: [any ImageDecoder] = [ImageIODecoder()]

  extension EncodedImageType {
    /// The trait of the package that its decoder needs: ImageIO needs none.
    var trait: String? { nil }
  }

  /// JPEG, PNG, WebP, GIF, HEIF, AVIF, TIFF, BMP and ICO by the system's ImageIO; of an animation the first frame.
  ///
  /// ImageIO decodes dozens of formats, so this decoder checks the first bytes before ImageIO sees
  /// any, and then the type that ImageIO names.
  struct ImageIODecoder: ImageDecoder {
    let types: [EncodedImageType] = [
      .jpeg, .png, .webp, .gif, .heif, .avif, .tiff, .bmp, .ico,
    ]
    private static let identifiers: Set<String> = [
      "public.jpeg", "public.png", "org.webmproject.webp", "com.compuserve.gif", "public.heic",
      "public.heif", "public.avif", "public.tiff", "com.microsoft.bmp", "com.microsoft.ico",
    ]

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      // A preview's bytes end before the file does.
      try header(of: source(data, isWhole: false))
    }

    /// ImageIO makes the thumbnail, which is then drawn into private memory: twice the result.
    /// ImageIO does not tell how much it takes inside.
    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let size = Self.size(of: header.size, for: minimumSize)
      return (size.pixelCount ?? .max).multipliedClamped(by: 8)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      let source = try source(data)
      let header = try header(of: source)
      try request.limits.check(
        header, encodedByteCount: data.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))
      if request.isCancelled() { throw .cancelled }
      let size = Self.size(of: header.size, for: request.minimumSize)
      let bitmap = try decode(source, at: 0, header, size, request)
      guard CGImageSourceGetStatusAtIndex(source, 0) == .statusComplete else { throw .truncated }
      return bitmap
    }

    /// Decodes the image at an index upright, to a size.
    func decode(
      _ source: CGImageSource, at index: Int, _ header: ImageHeader, _ size: PixelSize,
      _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let options: [CFString: Any] = [
        kCGImageSourceCreateThumbnailFromImageAlways: true,
        kCGImageSourceCreateThumbnailWithTransform: true,
        kCGImageSourceThumbnailMaxPixelSize: max(size.width, size.height),
        kCGImageSourceShouldCacheImmediately: true,
      ]
      guard
        let image = CGImageSourceCreateThumbnailAtIndex(source, index, options as CFDictionary)
      else { throw .truncated }
      if request.isCancelled() { throw .cancelled }
      return try bitmap(of: image, hasAlpha: header.hasAlpha, header, request)
    }

    private func bitmap(
      of image: CGImage, hasAlpha: Bool, _ header: ImageHeader, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      do throws(BitmapError) {
        return try Bitmap(
          image, hasAlpha: hasAlpha, fullSize: header.size, colorSpace: request.colorSpace)
      } catch {
        throw .outOfMemory
      }
    }

    func source(
      _ data: Data, isWhole: Bool = true
    ) throws(ImageDecodingError) -> CGImageSource {
      guard recognizes(data.prefix(64)) else { throw .unknownType }
      let options = [kCGImageSourceShouldCache: false] as CFDictionary
      guard let source = CGImageSourceCreateWithData(data as CFData, options),
        let type = CGImageSourceGetType(source), Self.identifiers.contains(type as String)
      else { throw .unknownType }
      guard !isWhole || CGImageSourceGetStatus(source) == .statusComplete else { throw .truncated }
      return source
    }

    func header(
      of source: CGImageSource, at index: Int = 0
    ) throws(ImageDecodingError) -> ImageHeader {
      let options = [kCGImageSourceShouldCache: false] as CFDictionary
      guard
        let properties = CGImageSourceCopyPropertiesAtIndex(source, index, options)
          as? [CFString: Any],
        let width = properties[kCGImagePropertyPixelWidth] as? Int,
        let height = properties[kCGImagePropertyPixelHeight] as? Int, width > 0, height > 0
      else { throw .damaged("ImageIO finds no size.") }
      let value = properties[kCGImagePropertyOrientation] as? UInt32 ?? 1
      let orientation = Orientation(rawValue: value) ?? .up
      return ImageHeader(
        size: orientation.turning(PixelSize(width: width, height: height)),
        hasAlpha: properties[kCGImagePropertyHasAlpha] as? Bool ?? false)
    }

    /// The image's own proportions, at or just above the size wanted.
    private static func size(of size: PixelSize, for minimumSize: PixelSize?) -> PixelSize {
      guard let minimumSize else { return size }
      let scale = max(
        Double(minimumSize.width) / Double(size.width),
        Double(minimumSize.height) / Double(size.height))
      guard scale < 1 else { return size }
      // The longer side decides, and ImageIO rounds the shorter one as it likes: one more pixel
      // keeps it from falling below.
      let longer = (Double(max(size.width, size.height)) * scale).rounded(.up) + 1
      let factor = longer / Double(max(size.width, size.height))
      return PixelSize(
        width: min(Int((Double(size.width) * factor).rounded(.up)), size.width),
        height: min(Int((Double(size.height) * factor).rounded(.up)), size.height))
    }
  }

  extension ImageIODecoder: SystemDecoder {
    /// ImageIO tells a profile by its name.
    func colorSpace(of data: Data) throws(ImageDecodingError) -> ColorSpace? {
      let source = try source(data, isWhole: false)
      let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any]
      guard let properties,
        properties[kCGImagePropertyColorModel] as? String != kCGImagePropertyColorModelCMYK
          as String
      else { return nil }
      guard let name = properties[kCGImagePropertyProfileName] as? String else { return .sRGB }
      return name.hasPrefix("sRGB") ? .sRGB : name == "Display P3" ? .displayP3 : nil
    }
  }

  extension ImageIODecoder: ProgressiveImageDecoder {
    /// Previews of progressive JPEG, and thumbnails. ImageIO does not tell at which scan it stops, nor how many
    /// rows of a cut file it has decoded.
    func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
      JPEGScanWatch(settles: false)
    }

    func decodePreview(
      _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> DecodedPreview {
      switch stage.kind {
      case .frame: DecodedPreview(try decode(bytes.closedAsJPEG(), request))
      case .embedded: DecodedPreview(try decodeThumbnail(in: bytes, request))
      case .rows: throw .unsupported("ImageIO does not tell how many rows there are.")
      }
    }

    /// Decodes the thumbnail in the head of a file, which ImageIO turns upright.
    private func decodeThumbnail(
      in bytes: Data, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> Bitmap {
      let source = try source(bytes, isWhole: false)
      let header = try header(of: source)
      let wanted = request.minimumSize ?? header.size
      try request.limits.check(
        header, encodedByteCount: bytes.count,
        workingByteCount: workingByteCount(for: header, minimumSize: wanted))
      let size = Self.size(of: header.size, for: wanted)
      let options: [CFString: Any] = [
        kCGImageSourceCreateThumbnailFromImageIfAbsent: false,
        kCGImageSourceCreateThumbnailWithTransform: true,
        kCGImageSourceThumbnailMaxPixelSize: max(size.width, size.height),
        kCGImageSourceShouldCacheImmediately: true,
      ]
      guard let image = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary)
      else { throw .unsupported("A file without a thumbnail") }
      let thumbnail = try bitmap(of: image, hasAlpha: false, header, request)
      guard let checked = EmbeddedThumbnail.check(thumbnail, of: header.size, wanted: wanted) else {
        throw .unsupported("A thumbnail of another image, or too small a one")
      }
      return checked
    }
  }
#endif
