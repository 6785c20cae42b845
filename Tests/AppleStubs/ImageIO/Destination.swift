// Names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_implementationOnly import CImageCodecs

public final class CGImageDestination {
  fileprivate let data: NSMutableData
  fileprivate let kind: EncodedFile.Kind
  fileprivate var image: CGImage?
  fileprivate var properties: CFDictionary = [:]

  fileprivate init(_ data: NSMutableData, _ kind: EncodedFile.Kind) {
    (self.data, self.kind) = (data, kind)
  }
}

public func CGImageDestinationCreateWithData(
  _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  EncodedFile.Kind(rawValue: type).map { CGImageDestination(data, $0) }
}

public func CGImageDestinationAddImage(
  _ destination: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) { (destination.image, destination.properties) = (image, properties ?? [:]) }

public func CGImageDestinationFinalize(_ destination: CGImageDestination) -> Bool {
  guard let image = destination.image else { return false }
  let file = destination.kind == .png ? image.png() : image.jpeg(destination.properties)
  guard let file else { return false }
  destination.data.append(file)
  return true
}

extension CGImage {
  /// The profile of an image in Display P3; empty for others.
  private var profile: [UInt8] {
    guard colorSpace?.name == CGColorSpace.displayP3 else { return [] }
    var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    let colors = [0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329]
    let curve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
    let status = fic_color_make_profile(colors, .parametric, curve, "Display P3", &bytes, &count)
    guard status == .ok, let bytes else { return [] }
    defer { bytes.deallocate() }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  private var isGray: Bool { colorSpace?.model == .monochrome }

  /// One row as the writers take it: gray, or blue, green, red and alpha that is not multiplied.
  private func row(_ pixels: [UInt8], _ y: Int) -> [UInt8] {
    var row = Array(pixels[y * width * 4..<(y + 1) * width * 4])
    if isGray { return stride(from: 0, to: row.count, by: 4).map { row[$0] } }
    guard alphaInfo == .premultipliedFirst else { return row }
    for index in row.indices where index % 4 != 3 {
      let alpha = max(Int(row[index | 3]), 1)
      row[index] = UInt8(min((Int(row[index]) * 255 + alpha / 2) / alpha, 255))
    }
    return row
  }

  fileprivate func png() -> Data? {
    guard let writer = fic_png_writer_create() else { return nil }
    defer { fic_png_writer_close(writer) }
    let kind: fic_rows_kind =
      isGray ? .gray : alphaInfo == .premultipliedFirst ? .bgra : .bgrx
    let pixels = _bgra
    let profile = profile
    guard
      fic_png_begin(
        writer, UInt32(width), UInt32(height), kind, profile.isEmpty ? nil : profile, profile.count)
        == .ok
    else { return nil }
    for y in 0..<height {
      guard fic_png_write_row(writer, row(pixels, y)) == .ok else { return nil }
    }
    var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    guard fic_png_end(writer, &bytes, &count) == .ok, let bytes else { return nil }
    return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }

  fileprivate func jpeg(_ properties: CFDictionary) -> Data? {
    guard let writer = fic_jpeg_writer_create() else { return nil }
    defer { fic_jpeg_writer_close(writer) }
    let quality = properties[kCGImageDestinationLossyCompressionQuality] as? Double ?? 0.8
    let jfif = properties[kCGImagePropertyJFIFDictionary] as? [CFString: Bool] ?? [:]
    var pixels = _bgra
    // ImageIO lays pixels over the background, black if none is given.
    let white = properties[kCGImageDestinationBackgroundColor] is CGColor ? 255 : 0
    for index in pixels.indices where index % 4 != 3 {
      pixels[index] = UInt8(Int(pixels[index]) + (255 - Int(pixels[index | 3])) * white / 255)
    }
    let profile = profile
    guard
      fic_jpeg_begin(
        writer, UInt32(width), UInt32(height), isGray, max(1, Int32(quality * 100)),
        jfif[kCGImagePropertyJFIFIsProgressive] ?? false, profile.isEmpty ? nil : profile,
        UInt32(profile.count)) == .ok
    else { return nil }
    for y in 0..<height {
      var row = Array(pixels[y * width * 4..<(y + 1) * width * 4])
      if isGray { row = stride(from: 0, to: row.count, by: 4).map { row[$0] } }
      guard fic_jpeg_write_row(writer, row) == .ok else { return nil }
    }
    var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    guard fic_jpeg_end(writer, &bytes, &count) == .ok, let bytes else { return nil }
    return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }
}
