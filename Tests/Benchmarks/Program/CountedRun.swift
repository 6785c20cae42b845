import CommandSupport
import FastImageCache
import Foundation

/// An exact number of operations and nothing else, for tools that count instructions, allocations
/// or system calls: the difference of two runs, divided by the difference of their numbers, is the
/// cost of one.
struct CountedRun {
  private enum Work: String, CaseIterable {
    case hits
    case awaitedHits = "awaited-hits"
    case hitsWithOriginals = "hits-with-originals"
    case awaitedHitsWithOriginals = "awaited-hits-with-originals"
    case stores
    case misses
    /// Of 12 megapixels.
    case largeMisses = "large-misses"
    /// Of 800 x 600.
    case smallMisses = "small-misses"
    case cancelledRequests = "cancelled-requests"
    case bareTaskPairs = "bare-task-pairs"

    /// Of the images shown, and of the photograph of a miss.
    var sizes: (shown: PixelSize, photograph: PixelSize) {
      func size(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: width, height: height)
      }
      return switch self {
      case .largeMisses: (size(200, 200), size(4000, 3000))
      case .smallMisses: (size(200, 200), size(800, 600))
      default: (size(32, 32), size(96, 64))
      }
    }
  }

  static let help = """
    does an exact amount of one kind of work, for callgrind and its like:
    \(Work.allCases.map(\.rawValue).joined(separator: ", "))
    """

  private let work: Work
  private let times: Int

  private static let imageCount = 16
  /// At least as many in each run: the difference of two runs does not count URLs that both make.
  private static let leastURLCount = 5000

  init(_ name: String, times: Int) throws(UsageError) {
    guard let work = Work(rawValue: name) else {
      let known = Work.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--only is \"\(name)\"; it is one of \(known).")
    }
    self.work = work
    self.times = times
  }

  /// - Returns: The cache's own counts.
  nonisolated(nonsending) func run() async throws -> JSONValue {
    let setting = try BenchSetting(effort: .quick, peers: PeerLibrary(path: nil))
    let result: Result<JSONValue, any Error>
    do {
      result = .success(try await run(setting))
    } catch {
      result = .failure(error)
    }
    await setting.close()
    return try result.get()
  }

  private func run(_ setting: BenchSetting) async throws -> JSONValue {
    let (size, photograph) = work.sizes
    let format = ImageFormat(
      name: "counted", size: .exact(size), pixelFormat: .bgrx32, capacity: .count(Self.imageCount)
    )
    let file = setting.place.url.appending(path: "counted.jpg")
    try setting.photographs.writeFile(3, size: photograph, to: file)
    let images = (0..<Self.imageCount).map { BenchImage($0, file: file) }
    let bitmap = try setting.photographs.part(0, size: size)
    var configuration = ImageCache.Configuration()
    let source = WaitingSource(bitmap)
    if work == .cancelledRequests { configuration.source = source }
    if work == .hitsWithOriginals || work == .awaitedHitsWithOriginals {
      configuration.originals = OriginalStore(directory: setting.place.url.appending(path: "kept"))
    }
    return try await setting.withCache(
      "counted", formats: [format], configuration
    ) { cache in
      try Gallery.fill(cache, format, with: images) { _ in bitmap }
      let hits = HitList(cache: cache, format: format, images: images)
      // The setup at first use is not part of a hit.
      try await hits.awaitHit(0..<Self.imageCount)
      let before = await cache.statistics()
      try await work(hits, bitmap, file, source)
      let now = await cache.statistics()
      return .object([
        "times": .integer(times),
        "cancellations": .integer(now.cancellations - before.cancellations),
        "hits": .integer(now.hits - before.hits),
        "misses": .integer(now.misses - before.misses),
        "fetches": .integer(now.fetches - before.fetches),
        "decodes": .integer(now.decodes - before.decodes),
        "drawings": .integer(now.drawings - before.drawings),
        "stores": .integer(now.stores - before.stores),
      ])
    }
  }

  private func work(
    _ hits: HitList, _ bitmap: Bitmap, _ file: URL, _ source: WaitingSource
  ) async throws {
    switch work {
    case .hits, .hitsWithOriginals: for range in ranges { try hits.hit(range) }
    case .awaitedHits, .awaitedHitsWithOriginals:
      for range in ranges { try await hits.awaitHit(range) }
    case .stores:
      for index in ranges.joined() {
        try await hits.cache.store(bitmap, for: hits.images[index], format: hits.format)
      }
    case .misses, .largeMisses, .smallMisses:
      for number in 0..<times {
        let image = BenchImage(Self.imageCount + number, file: try link(number, to: file))
        _ = try await hits.cache.image(for: image, format: hits.format)
      }
    case .cancelledRequests:
      // As the first load of a type does, which learns so that no other one has to ask.
      _ = try await WatchedImage(
        image: hits.images[0], end: EndOfCopies(of: AsyncStream.makeStream().continuation)
      ).providedImage(for: hits.format)
      let (ends, end) = AsyncStream<Never>.makeStream()
      // No look at the statistics again and again: each would count, and time tells how many.
      try await CancelledRequests.ask(
        hits.cache, for: watchedImages(until: end), hits.format
      ) {
        await source.waitForLoads(times)
      }
      // A load ends after its request.
      for await _ in ends {}
    case .bareTaskPairs: await CancelledRequests.waitInPairs(times)
    }
  }

  /// Images that finish a stream when the last copy of the last one is gone; a load keeps its own.
  private func watchedImages(
    until end: AsyncStream<Never>.Continuation
  ) -> some Collection<WatchedImage> & Sendable {
    let end = EndOfCopies(of: end)
    return (0..<max(times, Self.leastURLCount)).map {
      let file = URL(filePath: "/picture-\($0)")
      return WatchedImage(image: BenchImage(Self.imageCount + $0, file: file), end: end)
    }
    .prefix(times)
  }

  /// Another name of a file: a miss with the same one would join the load before it, if that has
  /// answered but not ended yet.
  private func link(_ number: Int, to file: URL) throws -> URL {
    let link = file.deletingLastPathComponent().appending(path: "counted-\(number).jpg")
    try FileManager.default.linkItem(at: file, to: link)
    return link
  }

  /// All images, repeated up to the wanted count.
  private var ranges: some Sequence<Range<Int>> {
    stride(from: 0, to: times, by: Self.imageCount).lazy.map {
      0..<min(Self.imageCount, times - $0)
    }
  }
}

private struct WatchedImage: ImageEntity {
  let image: BenchImage
  let end: EndOfCopies

  var imageID: ImageID { image.imageID }

  func versionID(for format: ImageFormat) -> ImageID { image.versionID(for: format) }

  func sourceURL(for format: ImageFormat) -> URL? { image.file }
}

/// Finishes a stream when the last reference to it is gone.
private final class EndOfCopies: Sendable {
  private let continuation: AsyncStream<Never>.Continuation

  init(of continuation: AsyncStream<Never>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}
