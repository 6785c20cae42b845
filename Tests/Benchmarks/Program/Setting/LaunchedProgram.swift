import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The work of a process that `first-frame` or `first-stickers` starts: this executable, with arguments that its
/// help does not name.
struct LaunchedProgram {
  enum Program: Equatable {
    case nothing
    /// Loads the peers' library, and does nothing.
    case libraries
    case cache
    /// A cache of animations.
    case stickers
    /// A peer with this name.
    case peer(String)
  }

  let program: Program
  /// The folder of the scenario's setting.
  let place: URL
  let galleryName: String
  /// The images of the gallery.
  let count: Int
  let side: Int
  /// The images that the process obtains.
  let shownCount: Int
  /// The shared library of the peers.
  let library: String?

  private static let flag = "--launch"

  /// The arguments that ``init(_:)`` reads.
  var words: [String] {
    let name =
      switch program {
      case .nothing: "nothing"
      case .libraries: "libraries"
      case .cache: "cache"
      case .stickers: "stickers"
      case .peer(let name): "peer " + name
      }
    return [
      Self.flag, name, place.path(percentEncoded: false), galleryName, "\(count)", "\(side)",
      "\(shownCount)", library ?? "",
    ]
  }

  /// Tells its parent that the last byte is read, and gives back what it holds.
  ///
  /// - Returns: The status for exit(3).
  nonisolated(nonsending) func run() async -> Int32 {
    do {
      switch program {
      case .nothing: tell()
      case .libraries:
        _ = try PeerLibrary(path: library)
        tell()
      case .cache: try await showFromCache()
      case .stickers: try await showStickers()
      case .peer(let name): try show(from: name)
      }
      return 0
    } catch {
      Console.note("imagecache-bench: \(error)")
      return 1
    }
  }

  /// Some of the gallery's images, far from one another.
  private var images: [BenchImage] {
    (0..<shownCount).map { BenchImage($0 * count / shownCount) }
  }

  private func openCache(_ format: ImageFormat) throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.directory = place
    return try ImageCache.open(
      namespace: galleryName, formats: [format], configuration: configuration)
  }

  private nonisolated(nonsending) func showFromCache() async throws {
    let format = Gallery.format(galleryName, count: count, side: side)
    let cache = try openCache(format)
    let images = images
    try HitList(cache: cache, format: format, images: images).read(images.indices)
    tell()
    await cache.close()
  }

  /// Reads the first frame of each, as a view shows it.
  private nonisolated(nonsending) func showStickers() async throws {
    let cache = try openCache(Stickers.format)
    let shown = try images.map { image in
      guard let found = cache.cachedAnimation(for: image, format: Stickers.format) else {
        throw BenchFailure.missingImage
      }
      found.frame(at: 0).image.withPixels {
        $0.withUnsafeBytes { _ = bench_sum($0.baseAddress, $0.count) }
      }
      return found
    }
    tell()
    withExtendedLifetime(shown) {}
    await cache.close()
  }

  private func show(from name: String) throws {
    let layout = PixelLayout(for: PixelSize(width: side, height: side), format: .bgrx32)
    let store = try PeerLibrary(path: library).open(
      named: name, in: Gallery.peerFolder(galleryName, in: place), layout: layout, capacity: count)
    defer { store.close() }
    try store.get(ArraySlice(images.flatMap(\.key)), reads: true)
    tell()
  }

  private func tell() {
    var byte: UInt8 = 1
    // A parent that is gone needs no answer.
    _ = write(STDOUT_FILENO, &byte, 1)
  }
}

extension LaunchedProgram {
  /// - Parameter words: The process' arguments; `nil` for all that its parent did not write.
  init?(_ words: [String]) {
    guard words.count == 8, words[0] == Self.flag, let count = Int(words[4]),
      let side = Int(words[5]), let shownCount = Int(words[6])
    else { return nil }
    switch words[1] {
    case "nothing": program = .nothing
    case "libraries": program = .libraries
    case "cache": program = .cache
    case "stickers": program = .stickers
    default: program = .peer(String(words[1].dropFirst("peer ".count)))
    }
    place = URL(filePath: words[2], directoryHint: .isDirectory)
    galleryName = words[3]
    (self.count, self.side, self.shownCount) = (count, side, shownCount)
    library = words[7].isEmpty ? nil : words[7]
  }
}

extension LaunchedProgram {
  static let emptyName = "an empty Swift program"

  /// The line with the bar; none where there is no empty program.
  static func beyondEmpty(
    _ id: String, _ what: String, _ ours: Distribution, _ emptyTimes: Distribution?,
    millisecondsAtMost bar: Double
  ) -> [Measure] {
    guard let emptyTimes else { return [] }
    return [
      Measure(
        id, "\(what), beyond \(emptyName)", unit: "ms",
        ours: Distribution(ours.values.map { max(0, $0 - emptyTimes.median) }),
        bar: .oursAtMost(bar))
    ]
  }
}
