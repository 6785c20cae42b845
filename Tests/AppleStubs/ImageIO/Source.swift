// Names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public final class CGImageSource {
  let file: EncodedFile
  let frames: [EncodedFile]
  init(_ file: EncodedFile) { (self.file, frames) = (file, file.frames) }
}

public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?)
  -> CGImageSource?
{ EncodedFile(data).map(CGImageSource.init) }

public func CGImageSourceGetType(_ source: CGImageSource) -> CFString? { source.file.kind.rawValue }

public func CGImageSourceGetCount(_ source: CGImageSource) -> Int { source.frames.count }

public func CGImageSourceGetStatus(_ source: CGImageSource) -> CGImageSourceStatus {
  source.file.isWhole ? .statusComplete : .statusIncomplete
}

public func CGImageSourceGetStatusAtIndex(_ source: CGImageSource, _ index: Int)
  -> CGImageSourceStatus
{ source.frames[index].isWhole ? .statusComplete : .statusIncomplete }

/// Loops are a number of the first frame.
public func CGImageSourceCopyProperties(_ source: CGImageSource, _ options: CFDictionary?)
  -> CFDictionary?
{
  guard let loops = source.file.number(of: "acTL", at: 4, 4) else { return [:] }
  let animation: CFDictionary = [kCGImagePropertyGIFLoopCount: NSNumber(value: loops)]
  return [kCGImagePropertyPNGDictionary: animation]
}

public func CGImageSourceCopyPropertiesAtIndex(
  _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CFDictionary? {
  let file = source.frames[index]
  guard let header = file.header else { return nil }
  var properties: CFDictionary = [
    kCGImagePropertyPixelWidth: NSNumber(value: header.width),
    kCGImagePropertyPixelHeight: NSNumber(value: header.height),
    kCGImagePropertyOrientation: NSNumber(value: file.orientation),
  ]
  if let seconds = file.number(of: "fcTL", at: 20, 2),
    let parts = file.number(of: "fcTL", at: 22, 2)
  {
    let delay = NSNumber(value: Double(seconds) / Double(parts))
    let animation: CFDictionary = [
      kCGImagePropertyGIFUnclampedDelayTime: delay,
      kCGImagePropertyGIFDelayTime: NSNumber(value: 9),
    ]
    properties[kCGImagePropertyPNGDictionary] = animation
  }
  if header.hasAlpha { properties[kCGImagePropertyHasAlpha] = NSNumber(value: true) }
  return properties
}

/// Scales the whole image to the whole thumbnail, rounding the shorter side.
public func CGImageSourceCreateThumbnailAtIndex(
  _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? {
  func isSet(_ key: CFString) -> Bool { options?[key] as? Bool ?? false }
  let whole = source.frames[index]
  var file: EncodedFile? = whole
  if !isSet(kCGImageSourceCreateThumbnailFromImageAlways) {
    file =
      whole.thumbnail
      ?? (isSet(kCGImageSourceCreateThumbnailFromImageIfAbsent) ? whole : nil)
  }
  guard var pixels = file?.pixels() else { return nil }
  if isSet(kCGImageSourceCreateThumbnailWithTransform) {
    pixels = pixels.turned(whole.orientation)
  }
  guard let image = CGImage(pixels) else { return nil }
  let longer = max(image.width, image.height)
  let wanted = options?[kCGImageSourceThumbnailMaxPixelSize] as? Int ?? longer
  guard wanted < longer else { return image }
  func scaled(_ side: Int) -> Int {
    max(1, Int((Double(side) * Double(wanted) / Double(longer)).rounded()))
  }
  return image.scaled(width: scaled(image.width), height: scaled(image.height))
}

extension CGImage {
  convenience init?(_ pixels: EncodedFile.Pixels) {
    self.init(
      _bgra: pixels.bgra, width: pixels.width, height: pixels.height, hasAlpha: pixels.hasAlpha,
      space: (pixels.isDisplayP3 ? CGColorSpace(name: CGColorSpace.displayP3) : nil)
        ?? CGColorSpaceCreateDeviceRGB())
  }

  fileprivate func scaled(width: Int, height: Int) -> CGImage? {
    var result = [UInt8](repeating: 0, count: width * height * 4)
    let space = colorSpace ?? CGColorSpaceCreateDeviceRGB()
    let isDrawn = result.withUnsafeMutableBytes { bytes in
      guard
        let context = CGContext(
          data: bytes.baseAddress, width: width, height: height, bitsPerComponent: 8,
          bytesPerRow: width * 4, space: space,
          bitmapInfo: CGImageAlphaInfo.premultipliedFirst.rawValue
            | CGBitmapInfo.byteOrder32Little.rawValue)
      else { return false }
      context.interpolationQuality = .high
      context.draw(self, in: CGRect(x: 0, y: 0, width: width, height: height))
      context.flush()
      return true
    }
    guard isDrawn else { return nil }
    return CGImage(
      _bgra: result, width: width, height: height, hasAlpha: alphaInfo == .premultipliedFirst,
      space: space)
  }
}
