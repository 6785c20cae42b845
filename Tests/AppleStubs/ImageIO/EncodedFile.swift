@_implementationOnly import CImageCodecs

/// A JPEG or PNG file, read by libjpeg or libpng. Inks and all other types are left out, and every profile counts
/// as Display P3's.
///
/// PNG files one behind the other are the composed frames of an animation. The first one has the chunk `acTL`, each
/// the chunk `fcTL`.
struct EncodedFile {
  enum Kind: String {
    case jpeg = "public.jpeg"
    case png = "public.png"
  }

  struct Pixels {
    /// Blue, green, red and premultiplied alpha.
    var bgra: [UInt8]
    var width: Int
    var height: Int
    var hasAlpha: Bool
    var isDisplayP3 = false
  }

  let kind: Kind
  let data: Data

  init?(_ data: Data) {
    self.data = Data(data)
    if data.starts(with: [0xFF, 0xD8, 0xFF]) {
      kind = .jpeg
    } else if data.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      kind = .png
    } else {
      return nil
    }
  }

  /// Whether the file ends as its type does.
  var isWhole: Bool {
    switch kind {
    case .jpeg: data.suffix(2) == Data([0xFF, 0xD9])
    case .png: data.suffix(8).prefix(4) == Data("IEND".utf8)
    }
  }

  // MARK: Frames

  /// The frames, or the file itself.
  var frames: [EncodedFile] {
    guard kind == .png, data.range(of: Data("acTL".utf8)) != nil else { return [self] }
    var starts: [Int] = []
    while let start = data.range(
      of: Data([0x89, 0x50, 0x4E, 0x47]), in: (starts.last.map { $0 + 1 } ?? 0)..<data.count)
    { starts.append(start.lowerBound) }
    return zip(starts, starts.dropFirst() + [data.count]).compactMap {
      EncodedFile(data.subdata(in: $0..<$1))
    }
  }

  /// A number of a chunk's content; `nil` without such a chunk.
  func number(of chunk: String, at offset: Int, _ count: Int) -> Int? {
    data.range(of: Data(chunk.utf8)).map {
      TIFF(data: data, isLittleEndian: false).number($0.upperBound + offset, count)
    }
  }

  // MARK: Pixels

  /// Width, height and whether there is alpha; `nil` for a damaged head.
  var header: (width: Int, height: Int, hasAlpha: Bool)? {
    switch kind {
    case .jpeg:
      withJPEG { reader, header in (Int(header.width), Int(header.height), false) }
    case .png:
      withPNG { reader, header in (Int(header.width), Int(header.height), header.has_alpha) }
    }
  }

  /// `nil` for a file that is damaged or cut short.
  func pixels() -> Pixels? {
    var pixels: Pixels?
    switch kind {
    case .jpeg:
      pixels = withJPEG { jpegPixels($0, $1) } ?? nil
      pixels?.isDisplayP3 = data.range(of: Data("ICC_PROFILE\0".utf8)) != nil
    case .png:
      pixels = withPNG { pngPixels($0, $1) } ?? nil
      pixels?.isDisplayP3 = withPNG { $1.profile != nil } ?? false
    }
    return pixels
  }

  private func withJPEG<Result>(
    _ body: (OpaquePointer, fic_jpeg_header) -> Result
  ) -> Result? {
    guard let reader = fic_jpeg_reader_create() else { return nil }
    defer { fic_jpeg_reader_close(reader) }
    return data.withUnsafeBytes { bytes in
      var header = fic_jpeg_header()
      let start = bytes.bindMemory(to: UInt8.self).baseAddress
      guard fic_jpeg_read_header(reader, start, bytes.count, &header) == .ok else { return nil }
      return body(reader, header)
    }
  }

  private func withPNG<Result>(_ body: (OpaquePointer, fic_png_header) -> Result) -> Result? {
    guard let reader = fic_png_reader_create() else { return nil }
    defer { fic_png_reader_close(reader) }
    return data.withUnsafeBytes { bytes in
      var header = fic_png_header()
      let start = bytes.bindMemory(to: UInt8.self).baseAddress
      func place(_ name: String) -> Int {
        data.range(of: Data(name.utf8)).map { $0.lowerBound - 4 } ?? 0
      }
      let chunks = fic_png_chunks(
        profile: place("iCCP"), palette: 0, transparency: 0, pixels: place("IDAT"))
      let status = fic_png_start(
        reader, start, bytes.count, chunks, 1 << 20, 1 << 24, false, &header)
      guard status == .ok else { return nil }
      return body(reader, header)
    }
  }

  private func jpegPixels(_ reader: OpaquePointer, _ header: fic_jpeg_header) -> Pixels? {
    var (width, height, isDone) = (UInt32(0), UInt32(0), !header.has_several_scans)
    let coefficients = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(header.coefficient_bytes), alignment: 16)
    defer { coefficients.deallocate() }
    fic_jpeg_lend(reader, coefficients.baseAddress, coefficients.count)
    guard header.kind != .cmyk,
      fic_jpeg_start(reader, 8, true, false, 1000, 1 << 30, &width, &height) == .ok
    else { return nil }
    while !isDone { guard fic_jpeg_take_in(reader, 64, &isDone) == .ok else { return nil } }
    let bytesPerPixel = header.kind == .gray ? 1 : 4
    var rows = [UInt8](repeating: 0, count: Int(width * height) * bytesPerPixel)
    guard fic_jpeg_read_rows(reader, &rows, Int(width) * bytesPerPixel, height) == .ok else {
      return nil
    }
    return Pixels(rows, Int(width), Int(height), hasAlpha: false)
  }

  private func pngPixels(_ reader: OpaquePointer, _ header: fic_png_header) -> Pixels? {
    let (width, height) = (Int(header.width), Int(header.height))
    let rowBytes = width * Int(header.bytes_per_pixel)
    var rows = [UInt8](repeating: 0, count: rowBytes * height)
    for _ in 0..<(header.interlaced ? 7 : 1) {
      guard fic_png_read_rows(reader, &rows, rowBytes, header.height, false) == .ok else {
        return nil
      }
    }
    return Pixels(rows, width, height, hasAlpha: header.has_alpha)
  }

  // MARK: EXIF

  /// The value of EXIF's tag 0x0112; 1 without one.
  var orientation: Int {
    let entries = exif.map { $0.directory(at: $0.number(4, 4)).entries } ?? [:]
    return entries[0x0112].flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
  }

  /// The small JPEG that EXIF's second directory leads to.
  var thumbnail: EncodedFile? {
    guard let exif else { return nil }
    let next = exif.directory(at: exif.number(4, 4)).next
    guard next > 0 else { return nil }
    let entries = exif.directory(at: next).entries
    guard let start = entries[0x0201], let count = entries[0x0202],
      start + count <= exif.data.count
    else { return nil }
    return EncodedFile(exif.data.subdata(in: start..<start + count))
  }

  private var exif: TIFF? {
    var offset = kind == .jpeg ? 2 : 8
    let file = TIFF(data: data, isLittleEndian: false)
    while offset + 12 < data.count {
      switch kind {
      case .jpeg:
        guard data[offset] == 0xFF, data[offset + 1] != 0xDA else { return nil }
        let length = file.number(offset + 2, 2)
        let payload = data.dropFirst(offset + 4).prefix(max(length - 2, 0))
        if data[offset + 1] == 0xE1, payload.starts(with: Data("Exif\0\0".utf8)) {
          return TIFF(payload.dropFirst(6))
        }
        offset += 2 + length
      case .png:
        let length = file.number(offset, 4)
        if data.dropFirst(offset + 4).prefix(4) == Data("eXIf".utf8) {
          return TIFF(data.dropFirst(offset + 8).prefix(length))
        }
        offset += 12 + length
      }
    }
    return nil
  }
}

extension EncodedFile.Pixels {
  /// Of rows of gray, or of blue, green, red and alpha that is not multiplied.
  init(_ rows: [UInt8], _ width: Int, _ height: Int, hasAlpha: Bool) {
    (self.width, self.height, self.hasAlpha) = (width, height, hasAlpha)
    guard rows.count == width * height * 4 else {
      bgra = rows.flatMap { [$0, $0, $0, 255] }
      return
    }
    bgra = rows
    guard hasAlpha else { return }
    for index in bgra.indices where index % 4 != 3 {
      bgra[index] = UInt8((Int(bgra[index]) * Int(bgra[index | 3]) + 127) / 255)
    }
  }

  /// The image as it stands upright.
  func turned(_ orientation: Int) -> EncodedFile.Pixels {
    var result = self
    if orientation >= 5 { (result.width, result.height) = (height, width) }
    var target = 0
    for y in 0..<result.height {
      for x in 0..<result.width {
        let (column, row) =
          switch orientation {
          case 2: (width - 1 - x, y)
          case 3: (width - 1 - x, height - 1 - y)
          case 4: (x, height - 1 - y)
          case 5: (y, x)
          case 6: (y, height - 1 - x)
          case 7: (width - 1 - y, height - 1 - x)
          case 8: (width - 1 - y, x)
          default: (x, y)
          }
        for channel in 0..<4 {
          result.bgra[target + channel] = bgra[(row * width + column) * 4 + channel]
        }
        target += 4
      }
    }
    return result
  }
}

/// The directories of TIFF 6.0, of which EXIF consists.
private struct TIFF {
  let data: Data
  let isLittleEndian: Bool

  init(data: Data, isLittleEndian: Bool) {
    (self.data, self.isLittleEndian) = (data, isLittleEndian)
  }

  init?(_ bytes: Data) {
    guard bytes.count > 8 else { return nil }
    data = Data(bytes)
    isLittleEndian = data.starts(with: Data("II".utf8))
  }

  func number(_ offset: Int, _ count: Int) -> Int {
    guard offset >= 0, offset + count <= data.count else { return 0 }
    let bytes = data[offset..<offset + count]
    return isLittleEndian
      ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The single values of a directory, by tag, and where the next directory begins.
  func directory(at start: Int) -> (entries: [Int: Int], next: Int) {
    var entries: [Int: Int] = [:]
    let count = number(start, 2)
    for offset in stride(from: start + 2, to: start + 2 + 12 * count, by: 12) {
      guard number(offset + 4, 4) == 1 else { continue }
      let size = number(offset + 2, 2) == 3 ? 2 : 4
      entries[number(offset, 2)] = number(offset + 8, size)
    }
    return (entries, number(start + 2 + 12 * count, 4))
  }
}
