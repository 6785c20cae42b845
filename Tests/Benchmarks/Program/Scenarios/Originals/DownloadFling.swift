import CommandSupport
import FastImageCache
import Foundation
import TestSupport

/// A fling through images on a web server, most of which scroll away before they came.
struct DownloadFling: Scenario {
  static let id = "S13"
  static let name = "download-fling"
  static let summary = """
    2000 downloads of a JPEG file of 800 x 600 from a server on the loopback interface, 60 requested at a time, each \
    cancelled at a random moment; two of three stop at a random byte until their client leaves. \
    The most bytes that partials took in memory, descriptors of the process once all is over \
    beyond those after its first part, which begins with a photo that comes, and the most bytes in the store's folder, whose limit is 16 MiB, looked at \
    after each request
    """

  private static let byteBudget = 16 << 20
  private static let partialBudget = 8 << 20
  private static let visibleCount = 60

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = setting.effort.flingCount
    let bytes = try KeptImage(setting.effort.photographs.small, setting).bytes
    let server = try Self.makeServer(bytes)
    let place = setting.place.url.appending(path: "originals-\(Self.name)")
    let originals = OriginalStore(directory: place, byteLimit: Self.byteBudget)
    let format = ImageFormat(
      name: "downloads", size: .exact(PixelSize(width: 32, height: 32)), pixelFormat: .bgrx32,
      capacity: .count(count))
    return try await setting.withCache(
      Self.name, formats: [format], .with { $0.originals = originals }
    ) { cache in
      let before = ProcessMemory.privateByteCount()
      var peaks = (partials: 0, folder: 0, memory: 0)
      func fling(_ numbers: Range<Int>) async throws -> Int {
        await ConcurrentWork.forEach(numbers, width: Self.visibleCount) { number in
          let image = BenchImage(number, file: server.url("/\(number).jpg"))
          await Self.ask(for: image, format, cache)
        } collect: { _ in
          peaks.partials = max(peaks.partials, cache.partialByteCount)
          peaks.folder = max(peaks.folder, DiskUsage.allocatedByteCount(in: originals.directory))
          peaks.memory = max(peaks.memory, ProcessMemory.privateByteCount() - before)
        }
        return try await Self.settledDescriptorCount(cache, server)
      }
      // The first part opens what stays open: libcurl's wakeup, the store's index, the threads' queues.
      // On a busy machine each request of a short part may be cancelled before it opens anything, so
      // one is waited for.
      _ = try await cache.image(
        for: BenchImage(-1, file: server.url(Self.wholePath)), format: format)
      let part = min(count / 2, 4 * Self.visibleCount)
      let descriptors = try await fling(0..<part)
      let descriptorsLeft = try await fling(part..<count) - descriptors
      let statistics = await cache.statistics()
      return Findings([
        .counted(
          Self.id, "fling of \(count) downloads, memory of partials", unit: "bytes",
          peaks.partials, atMost: Self.partialBudget,
          counts: [
            ("images shown", statistics.stores), ("cancellations", statistics.cancellations),
            ("kB of private memory at the peak", peaks.memory >> 10),
          ]),
        .counted(
          Self.id, "descriptors more after the fling than after its first part",
          max(descriptorsLeft, 0), atMost: Self.threadDescriptorCount),
        .counted(
          Self.id, "bytes in the folder", unit: "bytes", peaks.folder, atMost: Self.byteBudget),
      ])
    }
  }

  /// Served to its end, always.
  private static let wholePath = "/whole.jpg"

  /// The system's queues open some for threads that come and go.
  private static let threadDescriptorCount = 4

  /// Asks for an image, and leaves at a random moment.
  private static func ask(
    for image: BenchImage, _ format: ImageFormat, _ cache: ImageCache
  ) async {
    let request = Task(name: "request") {
      // Most are cancelled.
      _ = try? await cache.image(for: image, format: format)
    }
    // An interruption leaves at once.
    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<30_000)))
    request.cancel()
    await request.value
  }

  /// The open descriptors of the process once all connections are closed; the server's ends are in this
  /// process, too, and are closed a moment after they ended.
  private static func settledDescriptorCount(
    _ cache: ImageCache, _ server: HTTPServer
  ) async throws -> Int {
    while await cache.statistics().activeLoads > 0 { try await Task.sleep(for: .milliseconds(1)) }
    cache.trimMemory(.spare)
    while server.endedConnections.value < server.connections.value {
      try await Task.sleep(for: .milliseconds(1))
    }
    var (count, last) = (descriptorCount(), -1)
    while count != last {
      try await Task.sleep(for: .milliseconds(50))
      (count, last) = (descriptorCount(), count)
    }
    return count
  }

  private static func makeServer(_ body: Data) throws -> HTTPServer {
    try HTTPServer { request in
      let path = request.path.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }
      var numbers = SeededNumbers(seed: path &+ UInt64(request.number))
      let reply = HTTPFile(body, entityTag: "\"\(request.path)\"").reply(to: request)
      guard request.path != Self.wholePath, numbers.next() % 3 != 0 else { return reply }
      return reply.stopping(after: Int(numbers.next() % UInt64(body.count)))
    }
  }

  /// The open descriptors of the process; 0 where the system does not list them.
  private static func descriptorCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
  }
}
