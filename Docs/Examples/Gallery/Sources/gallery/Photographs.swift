import FastImageCache
import Foundation

extension ImageFormat {
  /// Cells in one of the pixel formats, each of which has a table of its own.
  nonisolated static func cell(of count: Int, _ pixels: PixelFormat = .bgrx32) -> ImageFormat {
    ImageFormat(
      name: pixels == .bgrx32 ? "cell" : "\(pixels.rawValue)-cell", family: "photograph",
      size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: pixels,
      capacity: .count(count))
  }

  nonisolated static let screen = ImageFormat(
    name: "screen", family: "photograph", size: .fitting(PixelSize(width: 1920, height: 1200)),
    pixelFormat: .bgrx32, capacity: .bytes(128 << 20))

  /// Room for all frames of some hundred stickers, each in a slot of its own.
  nonisolated static let sticker = ImageFormat(
    name: "stickers", size: .fitting(PixelSize(width: 160, height: 160)),
    capacity: .bytes(512 << 20), animation: .allFrames(byteLimit: 16 << 20))
}

/// One image of the list. Its ids are made once, because a hit asks for them.
nonisolated struct Photograph: ImageEntity {
  let imageID: ImageID
  let file: URL
  private let version: ImageID

  init(_ number: Int, _ file: URL) {
    (imageID, self.file) = (ImageID("photograph-\(number)"), file)
    version = ImageID(file)
  }

  init(sticker file: URL) {
    (imageID, self.file, version) = (ImageID(file), file, ImageID(file))
  }

  func sourceURL(for format: ImageFormat) -> URL? { file }
  func versionID(for format: ImageFormat) -> ImageID { version }
  /// Few photographs are ever shown in another format.
  func prerendersFamily(_ family: String) -> Bool { false }
}

/// The photographs of a folder, their table, and their thumbnail files.
///
/// A folder has few photographs and the list many images. So they repeat, each with a slot and a thumbnail file
/// of its own, as images of their own would have.
struct Stock {
  let photographs: [Photograph]
  private(set) var stickers: [Photograph] = []
  /// That of the images that are there when the window opens.
  let format: ImageFormat
  private let cells: [ImageFormat]
  let cache: ImageCache
  let line = SlowLine()
  private let place: URL
  /// Photographs of the folder, which come first.
  private let fileCount: Int

  init(_ options: Options) throws {
    let files = try Self.images(in: options.folder)
    fileCount = files.count
    let count = max(options.imageCount, files.count)
    photographs = (0..<count).map { Photograph($0, files[$0 % files.count]) }
    format = .cell(of: count)
    cells = [format] + [.bgra32, .bgr16, .gray8].map { .cell(of: count, $0) }
    place = options.cache
    var configuration = ImageCache.Configuration()
    configuration.directory = place
    configuration.source = line
    // Before the window opens: its first frame has images.
    cache = try ImageCache.open(
      namespace: "gallery", formats: cells + [.screen, .sticker], configuration: configuration)
    if let folder = options.stickers { try useStickers(in: folder) }
  }

  mutating func useStickers(in folder: URL) throws {
    stickers = try Self.images(in: folder).map { Photograph(sticker: $0) }
  }

  func format(_ pixels: PixelFormat) -> ImageFormat {
    cells.first { $0.pixelFormat == pixels } ?? format
  }

  private static func images(in folder: URL) throws -> [URL] {
    let types: Set<String> = ["jpg", "jpeg", "png", "webp", "gif", "avif", "heic"]
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { types.contains($0.pathExtension.lowercased()) && isReadable($0) }
      .sorted { $0.path < $1.path }
    guard !files.isEmpty else { throw Refusal("There is no picture in \"\(folder.path)\".") }
    return files
  }

  /// Whether a decoder knows a file's first bytes; if not, the file is named.
  private static func isReadable(_ file: URL) -> Bool {
    let opened = try? FileHandle(forReadingFrom: file)
    defer { try? opened?.close() }
    // A file that cannot be read has no first bytes, and is skipped as well.
    if let bytes = try? opened?.read(upToCount: 64),
      ImageDecoders.standard.contains(where: { $0.recognizes(bytes) })
    {
      return true
    }
    note(
      "skipped \(file.lastPathComponent): not a picture, or of a kind that needs a trait (README)")
    return false
  }

  func photograph(_ position: Int) -> Photograph { photographs[position % photographs.count] }

  func sticker(_ position: Int) -> Photograph? {
    stickers.isEmpty ? nil : stickers[position % stickers.count]
  }

  func thumbnail(_ position: Int) -> String {
    place.appending(path: "thumbnails/\(position % photographs.count).jpg").path
  }

  /// Bytes on disk of a way.
  func diskByteCount(of way: Way) -> Int {
    if way != .table, way != .thumbnails { return 0 }
    let files = FileManager.default.enumerator(atPath: place.path)
    return files?.reduce(0) { total, file in
      guard let path = file as? String,
        path.contains(way == .table ? "/\(format.name)-" : "thumbnails/")
      else { return total }
      let facts = try? FileManager.default.attributesOfItem(
        atPath: place.appending(path: path).path)
      return total
        + (facts?[.type] as? FileAttributeType == .typeRegular ? facts?[.size] as? Int ?? 0 : 0)
    } ?? 0
  }

  /// Fills the table and writes the thumbnail files, as far as they are not there.
  nonisolated func fill(report: @Sendable (_ done: Int, _ count: Int) -> Void) async throws {
    try FileManager.default.createDirectory(
      at: place.appending(path: "thumbnails"), withIntermediateDirectories: true)
    for (number, photograph) in photographs.enumerated() {
      if number % 50 == 0 { report(number, photographs.count) }
      let thumbnail = place.appending(path: "thumbnails/\(number).jpg")
      let first = photographs[number % fileCount]
      guard
        !cache.containsImage(for: photograph, format: format)
          || !FileManager.default.fileExists(atPath: thumbnail.path)
      else { continue }
      let image: CachedImage
      do { image = try await cache.image(for: first, format: format) } catch {
        // Its cells stay blank.
        if number < fileCount { note("\(error)") }
        continue
      }
      if number >= fileCount {
        try await cache.store(try image.makeBitmap(), for: photograph, format: format)
      }
      try image.jpegData(quality: 0.8).write(to: thumbnail)
    }
    report(photographs.count, photographs.count)
  }
}

nonisolated func note(_ text: String) {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
}
