import CommandSupport
import FastImageCache
import Foundation

/// Fills tables with images of web servers.
struct FetchCommand: Command {
  static let name = "fetch"

  static let grammar = ArgumentGrammar(
    command: "imagecache fetch",
    summary: "Fills image tables with images from web servers.",
    operands: [.init("URL", isRepeatable: true, help: "an image's address, http or https")],
    options: WantedTables.options(
      capacityHelp: "what is there, all URLs or 64 frames\nof each, and 16"
    ) + [
      .value(
        "--originals", "BYTES",
        help: "the most that the downloaded files may take on the disk (256M);\n0 keeps none"),
      .value(
        "--retries", "N", help: "how often a request that failed is sent again (2)"),
      .value(
        "--limit-rate", "BYTES", help: "bytes per second that all downloads together may bring"),
      .flag(
        "--revalidate", help: "asks the servers whether images have changed that are there"),
      .value(
        "--previews", "DIR",
        help: "writes the images there as PNG, and what there was to show before"),
    ],
    discussion: """
      A line for each image says where it came from:
        table      it was there, drawn
        original   drawn from the file that an earlier call has downloaded
        unchanged  the server was asked, and that file is still the present one
        network    downloaded
        resumed 812 kB of 1.2 MB
                   so much was there of an earlier download that broke off; the rest is downloaded
      Downloaded files are kept in DIR/Originals, up to --originals: the least recently used go first,
      and one that takes more than a quarter of it is not kept. Without --revalidate a server is asked
      only for images that are in no table and have no such file. A URL is an image's id. Plain
      http is taken where you write it; no redirect leads from https to http.

      --previews shows images as they get better while they arrive. Its files are named by the place of
      the URL in the call, the table, the milliseconds since the request, and what they are:
        1-photo.jpg-row-00000412ms-frame1.png    a preview: the whole image, coarser
        1-photo.jpg-row-00001830ms-picture.png   the image
      There are previews of progressive JPEG files, and on Linux of interlaced PNG files, that are
      downloaded, at most three of each, and of the first table of the call only: the others are drawn
      when all is there. --limit-rate 50k helps to see them on a fast network.

      Ctrl-C ends a call, and what has arrived is kept: give the same command again.

        imagecache fetch https://example.com/1.jpg https://example.com/2.jpg --cache tables \\
          --format row:200x200:bgrx32
        xargs imagecache fetch --cache tables --format row:200x200:bgrx32 <addresses.txt
      """)

  /// More than the network of a cache takes at once, so that it is never idle.
  private static let width = 32

  /// The frames of an animation for which there is room without `--capacity`; the file tells more when the tables are
  /// open.
  private static let usualFrameCount = 64

  private let urls: [URL]
  private let tables: WantedTables
  private let originalsByteCount: Int
  private let retryLimit: Int
  private let byteRate: Int?
  private let revalidates: Bool
  private let previewPath: String?

  init(_ arguments: Arguments) throws {
    var seen: Set<URL> = []
    urls = try arguments.operands.map { try URL(webAddress: $0) }.filter {
      seen.insert($0).inserted
    }
    tables = try WantedTables(arguments)
    originalsByteCount = try arguments.byteCount("--originals") ?? 256 << 20
    retryLimit = try arguments.integer("--retries", in: 0...100) ?? RetryPolicy().limit
    byteRate = try arguments.byteCount("--limit-rate", from: 2048)
    guard byteRate == nil || HTTPOptions.limitsByteRate else {
      throw UsageError("--limit-rate works on Linux only.")
    }
    revalidates = arguments.hasFlag("--revalidate")
    previewPath = arguments.value("--previews")
  }

  func run() async throws -> ExitStatus {
    let configuration = configuration
    let previews = try previewPath.map { try PreviewFolder($0) }
    let (cache, formats) = try await tables.open(
      for: urls.count, frameCount: urls.count * Self.usualFrameCount, keepsOthers: true,
      configuration)
    let display = FetchDisplay(imageCount: urls.count)
    let fetches = urls.enumerated().map { index, url in
      ImageFetch(
        url: url, number: index + 1, photo: FetchedImage(url: url, layouts: tables.layouts),
        formats: formats, cache: cache, originals: configuration.originals,
        revalidates: revalidates, previews: previews, display: display)
    }
    await ConcurrentWork.forEach(fetches, width: Self.width) { fetch in
      (fetch.url, await fetch.run())
    } collect: { url, outcome in
      display.end(url, outcome)
    }
    // They keep what has arrived, after their images were delivered or nobody waits any more.
    await cache.loadsHaveEnded()
    let areKept = await WantedTables.keepImages(of: cache)
    await cache.close()
    display.tell()
    return display.hasFailures || !areKept ? .failure : .success
  }

  private var configuration: ImageCache.Configuration {
    var http = HTTPOptions()
    http.retry = RetryPolicy(limit: retryLimit)
    // Some servers refuse requests that do not say whose they are.
    http.userAgent = "imagecache"
    if let byteRate {
      http.highestByteRate = byteRate
      // Each of the downloads gets its part in its turn, and may wait for it as long as that takes.
      (http.idleTimeout, http.lowestByteRate, http.totalTimeout) = (.seconds(60), 0, nil)
    }
    http.allowsInsecureHTTP = urls.contains { $0.scheme?.lowercased() == "http" }
    var configuration = ImageCache.Configuration()
    configuration.source = URLImageSource(http: http)
    if originalsByteCount > 0 {
      configuration.originals = OriginalStore(
        directory: OriginalFolders.directory(in: tables.directory), byteLimit: originalsByteCount)
    }
    return configuration
  }
}
