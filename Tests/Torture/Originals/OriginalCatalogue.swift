import CommandSupport
import FastImageCache
import Foundation
import Pixels
import TestSupport

/// Originals whose bytes follow from their number and version, so that a wrong one cannot look right.
enum OriginalCatalogue {
  static let numbers = 0..<12
  static let versions = 1...4
  /// The number whose originals come in several blocks.
  static let large = 12
  /// Room for some of the originals, of which the largest takes less than a quarter; and for all of them.
  static let (tightLimit, wideLimit) = (512 << 10, 8 << 20)
  static let magic = Data("TORTURE!".utf8)

  /// On a server: only what needs a network is kept.
  static func url(_ number: Int) -> URL {
    URL(string: "https://example.com/\(number)") ?? URL(filePath: "/\(number)")
  }
  static func id(_ number: Int) -> ImageID { ImageID(url(number)) }

  static func content(_ number: Int, _ version: Int) -> Data {
    var random = SplitMix64(state: UInt64(number) << 32 | UInt64(version))
    let count =
      number == large ? 700_000 + version : (number * 7919 + version * 10_473) % 60_000 + 1
    let words = (0..<(count + 7) / 8).map { _ in random.next() }
    let noise = words.withUnsafeBytes { Data($0) }.prefix(count)
    return magic + Data([UInt8(number), UInt8(version)]) + noise
  }

  /// The version of what was read under a number; `nil` for what was never kept there.
  static func version(of bytes: Data, _ number: Int) -> Int? {
    guard let version = bytes.dropFirst(9).first.map(Int.init), versions.contains(version),
      bytes == content(number, version)
    else { return nil }
    return version
  }

  /// Whether bytes are the first ones of some version.
  static func isStart(_ bytes: Data, _ number: Int) -> Bool {
    versions.contains { content(number, $0).starts(with: bytes) }
  }
}

/// The entity of a number; several numbers have one.
struct OriginalSubject: ImageEntity {
  let number: Int
  var imageID: ImageID { ImageID(number % 4) }
  func versionID(for format: ImageFormat) -> ImageID { ImageID(number) }
  func sourceURL(for format: ImageFormat) -> URL? { OriginalCatalogue.url(number) }
}

/// Makes a pixel of each original: torture is about the bytes.
private struct OnePixelDecoder: ImageDecoder {
  func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: OriginalCatalogue.magic) }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    ImageHeader(size: PixelSize(width: 1, height: 1))
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    guard let layout = PixelLayout(size: PixelSize(width: 1, height: 1), format: .bgrx32),
      let bitmap = try? Bitmap(layout: layout, filling: { _ in })
    else { throw .outOfMemory }
    return bitmap
  }
}

/// Delivers the large original: as many of its bytes as it is told, and then the connection breaks.
private struct BreakingSource: ImageSource {
  let version: Int
  let byteCount: Int
  let seen: @Sendable (KnownOriginal) -> Void

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let bytes = OriginalCatalogue.content(OriginalCatalogue.large, version)
    let terms = ResponseMetadata(
      fields: ["ETag": "\"\(version)\"", "Content-Length": "\(bytes.count)"], received: Date())
    if let known = request.known { seen(known) }
    let known = request.known.flatMap { $0.terms.entityTag == terms.entityTag ? $0 : nil }
    let arrival = request.begin(terms, continuing: known)
    while arrival.byteCount < min(byteCount, bytes.count) {
      try arrival.append(bytes.dropFirst(arrival.byteCount).prefix(20_000))
    }
    if arrival.byteCount < bytes.count { throw ImageSourceError.network("broken off") }
    return .arrived(arrival)
  }
}

/// A program with a store of originals, and tables in memory.
struct OriginalProgram {
  static let format = ImageFormat(
    name: "pixel", size: .exact(PixelSize(width: 1, height: 1)), pixelFormat: .bgrx32,
    capacity: .count(64))

  let store: OriginalStore
  private let cache: ImageCache

  init(_ folder: OriginalsFolder, byteLimit: Int) async throws {
    try await self.init(OriginalStore(directory: folder.url, byteLimit: byteLimit))
  }

  init(_ store: OriginalStore) async throws {
    self.store = store
    cache = try Self.cache(store, URLImageSource())
  }

  private static func cache(_ store: OriginalStore, _ source: any ImageSource) throws -> ImageCache
  {
    var configuration = ImageCache.Configuration()
    (configuration.originals, configuration.source) = (store, source)
    configuration.decoders = [OnePixelDecoder()]
    return try ImageCache.inMemory(formats: [format], configuration: configuration)
  }

  /// Returns when the original is written or given up.
  func keep(_ number: Int, _ bytes: Data) async throws {
    _ = try await cache.store(bytes, for: OriginalSubject(number: number), format: Self.format)
  }

  /// Has so many bytes of the large original arrive, what is there included.
  ///
  /// - Returns: What was there.
  func arrive(_ version: Int, upTo byteCount: Int) async throws -> Data? {
    let found = Found()
    let source = BreakingSource(version: version, byteCount: byteCount) { found.bytes = $0.bytes }
    let cache = try Self.cache(store, source)
    var options = LoadOptions()
    options.cachePolicy = .revalidate
    _ = try? await cache.image(
      for: OriginalSubject(number: OriginalCatalogue.large), format: Self.format, options: options)
    await cache.close()
    // The blocks are written behind the load.
    _ = try? await store.flush()
    return found.bytes
  }

  /// `@unchecked Sendable` is safe: one load writes, before its waiter reads.
  private final class Found: @unchecked Sendable {
    var bytes: Data?
  }

  /// Looks at the beginning of the large original that is there.
  func checkBeginning(_ findings: Findings, _ context: String) async throws {
    guard let known = try await arrive(1, upTo: 0) else { return }
    findings.count("beginnings compared")
    if !OriginalCatalogue.isStart(known, OriginalCatalogue.large) {
      findings.report(.wrongImage, "the beginning of an original, \(context)")
    }
  }

  /// Keeps one original more.
  func checkNext(_ findings: Findings, _ context: String) async throws {
    let extra = OriginalCatalogue.numbers.upperBound + 1
    try await keep(extra, OriginalCatalogue.content(extra, 1))
    if try await store.bytes(of: OriginalCatalogue.id(extra)) == nil {
      findings.report(.lostEntry, "the next original, \(context)")
    }
    try await store.remove(OriginalCatalogue.id(extra))
  }

  /// The version of each original that is there; 0 for wrong bytes.
  func versions() async throws -> [Int: Int] {
    var found: [Int: Int] = [:]
    for number in OriginalCatalogue.numbers.lowerBound...OriginalCatalogue.large {
      guard let bytes = try await store.bytes(of: OriginalCatalogue.id(number)) else { continue }
      found[number] = OriginalCatalogue.version(of: bytes, number) ?? 0
    }
    return found
  }
}

/// A folder of originals, and what its files take.
struct OriginalsFolder: Sendable {
  let path: String
  /// Absent in a child, which must not remove the folder.
  private let temporary: TemporaryFolder?

  init() throws {
    let temporary = try TemporaryFolder(prefix: "imagecache-torture")
    self.temporary = temporary
    path = temporary.url.path + "/originals"
  }

  init(path: String) { (self.path, temporary) = (path, nil) }

  var url: URL { URL(filePath: path) }
  var ledgerPath: String { path + ".ledger" }
  var database: String { path + "/originals.sqlite" }

  /// The files below it.
  var files: [String] {
    let names = FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []
    return names.map { path + "/" + $0 }.filter { file in
      var status = stat()
      return lstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
  }

  var bodies: [String] { files.filter { $0.hasPrefix(path + "/bodies/") } }

  var byteCount: Int {
    files.reduce(0) { sum, file in
      var status = stat()
      return lstat(file, &status) == 0 ? sum + (Int(status.st_size) + 4095) & ~4095 : sum
    }
  }

  func checkLimit(_ limit: Int, _ findings: Findings, _ context: String) {
    let used = byteCount
    guard used > limit else { return }
    findings.report(.other, "the folder has \(used) of \(limit) bytes, \(context)")
  }
}
