import Foundation
import Locking
import Pixels
import TestSupport
import Testing

@testable import FastImageCache

/// A decoder of files that are previewed each hundred bytes; a preview is a solid image of the number of its
/// stage, the image one of 999. Of top rows, the part is a tenth for each stage.
final class SketchDecoder: ProgressiveImageDecoder {
  static let size = PixelSize(width: 16, height: 16)
  static let magic = Data("sketch".utf8)

  struct Scanner: PreviewScanner {
    private var byteCount = 0
    private let settled: Int?
    private let kinds: [PreviewStage.Kind]
    private let stray: Int?
    private var isSketch = true

    init(settledStage settled: Int?, _ kinds: [PreviewStage.Kind], stray: Int?) {
      (self.settled, self.kinds, self.stray) = (settled, kinds, stray)
    }

    mutating func receive(_ bytes: Data) -> [PreviewStage] {
      if byteCount == 0 { isSketch = bytes.starts(with: SketchDecoder.magic) }
      // Something was left out.
      guard isSketch else { return [] }
      if let stray, byteCount == 0 {
        byteCount += bytes.count
        return [PreviewStage(.frame, byteCount: stray)]
      }
      let before = byteCount / 100
      byteCount += bytes.count
      let stage = byteCount / 100
      // Of each kind the newest.
      var found: [PreviewStage.Kind: PreviewStage] = [:]
      for stage in (before + 1)..<max(before + 1, stage + 1) {
        let kind = stage <= kinds.count ? kinds[stage - 1] : .frame
        found[kind] = PreviewStage(
          kind, byteCount: stage * 100,
          settledReduction: settled.map { stage >= $0 } == true ? 1 : nil)
      }
      return Array(found.values)
    }
  }

  /// Counts the scanners, the previews that have begun, and those that have ended.
  let (scanned, begun, ended) = (Counter(), Counter(), Counter())
  /// Counts the headers that were read.
  let headers = Counter()
  /// The least widths that previews were asked for.
  var minimumWidths: [Int] { widths.withLock { $0 } }
  private let widths = Lock<[Int]>([])
  private let settledStage: Int?
  private let kinds: [PreviewStage.Kind]
  private let parts: [Int: Double]
  private let isDamaged: Bool
  private let stray: Int?
  private let willDecode: @Sendable () -> Void
  private let willEnd: WillEnd

  typealias WillEnd =
    @Sendable (_ isCancelled: @Sendable () -> Bool) throws(ImageDecodingError) -> Void

  /// - Parameters:
  ///   - kinds: Those of the first stages; all others are frames.
  ///   - parts: The parts of the image that stages show.
  ///   - isDamaged: Whether no preview can be made.
  ///   - stray: The bytes of a stage that the first bytes are said to have.
  ///   - willDecode: Called before the image is decoded, on its worker.
  ///   - willEnd: Called in each preview, on its worker.
  init(
    settledStage: Int? = nil, kinds: [PreviewStage.Kind] = [], parts: [Int: Double] = [:],
    isDamaged: Bool = false, stray: Int? = nil,
    willDecode: @escaping @Sendable () -> Void = {},
    willEnd: @escaping WillEnd = { _ in }
  ) {
    (self.settledStage, self.kinds, self.parts) = (settledStage, kinds, parts)
    (self.isDamaged, self.stray) = (isDamaged, stray)
    (self.willDecode, self.willEnd) = (willDecode, willEnd)
  }

  func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: Self.magic) }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    headers.increment()
    guard recognizes(data) else { throw .unknownType }
    return ImageHeader(size: Self.size)
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    willDecode()
    return try bitmap(999)
  }

  func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
    scanned.increment()
    return Scanner(settledStage: settledStage, kinds, stray: stray)
  }

  func decodePreview(
    _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> DecodedPreview {
    widths.withLock { $0.append(request.minimumSize?.width ?? Self.size.width) }
    begun.increment()
    defer { ended.increment() }
    guard bytes.count == stage.byteCount, recognizes(bytes) else { throw .truncated }
    try willEnd(request.isCancelled)
    if isDamaged { throw .damaged("Nothing can be seen yet.") }
    let number = stage.byteCount / 100
    return DecodedPreview(
      try bitmap(number), part: stage.kind == .rows ? Double(number) / 10 : parts[number])
  }

  private func bitmap(_ number: Int) throws(ImageDecodingError) -> Bitmap {
    do { return try solid(number, size: Self.size) } catch { throw .outOfMemory }
  }
}

/// A cache whose images come in pieces, when the test says so.
struct SketchFixture {
  let fixture: Fixture
  let clock = ManualClock()
  let decoder: SketchDecoder
  /// Bytes that have arrived; a piece more comes with each step.
  let arrived = Counter()
  /// Calls of the source.
  private let asked = Counter()
  private let steps: AsyncStream<Int>.Continuation

  var cache: ImageCache { fixture.cache }

  /// - Parameters:
  ///   - total: How many bytes there are.
  ///   - change: Changes the cache's configuration.
  init(
    _ formats: [ImageFormat] = [.row], total: Int = 1000, decoder: SketchDecoder = SketchDecoder(),
    _ change: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    self.decoder = decoder
    let (sizes, steps) = AsyncStream<Int>.makeStream()
    self.steps = steps
    let (clock, arrived, asked) = (self.clock, self.arrived, self.asked)
    let bytes = SketchDecoder.magic + Data(count: total - SketchDecoder.magic.count)
    let terms = ResponseMetadata(fields: ["Content-Length": "\(total)"], received: Date())
    let source = ClosureImageSource { request in
      var arrival = request.begin(terms)
      asked.increment()
      for await size in sizes {
        if size == 0 { arrival = request.begin(terms) }
        if size < 0 {
          let known = KnownOriginal(terms: terms, bytes: arrival.bytes, isWhole: false)
          arrival = request.begin(terms, continuing: known)
        }
        try arrival.append(bytes[arrival.byteCount..<min(arrival.byteCount + abs(size), total)])
        arrived.increment()
      }
      try arrival.append(bytes[arrival.byteCount...])
      return .arrived(arrival)
    }
    fixture = try await Fixture(formats, from: source) { configuration in
      configuration.decoders = [decoder]
      configuration.clock = clock
      change(&configuration)
    }
  }

  /// Lets so many bytes arrive after some seconds, and waits until they have.
  func step(_ byteCount: Int, after seconds: Int = 1000) async {
    // The fetch begins by the clock, too.
    await asked.reaches(1)
    clock.advance(by: .seconds(seconds))
    let goal = arrived.value + 1
    steps.yield(byteCount)
    await arrived.reaches(goal)
  }

  /// Lets the source begin with the first byte again.
  func beginAnew() async { await step(0) }

  /// Lets the connection break off, and another one bring a byte more.
  func breakOff() async { await step(-1) }

  /// Lets so many bytes arrive after some seconds, and waits until no job is under way.
  func process(_ byteCount: Int, after seconds: Int = 1000) async {
    await step(byteCount, after: seconds)
    await idle()
  }

  /// Has a listener follow a load, and waits until it is one of its subscribers.
  func follow(
    _ options: LoadOptions = .previewing, photo: Photo = Photo("1"), format: ImageFormat = .row
  ) async -> Following {
    let count = await cache.statistics().pendingRequests
    let following = Following(cache, photo, format, options)
    await fixture.subscribers(count + 1)
    return following
  }

  /// Lets the rest arrive.
  func finish() { steps.finish() }

  /// Lets the rest arrive, and waits until listeners have heard all.
  func finish(_ following: [Following]) async {
    finish()
    for one in following { await one.ends() }
  }

  /// Has one listener follow a load while `play` lets bytes arrive, and lets the rest arrive.
  ///
  /// - Returns: What the listener was told.
  func told(
    _ options: LoadOptions = .previewing, while play: (Following) async throws -> Void
  ) async rethrows -> String {
    let following = await follow(options)
    try await play(following)
    await finish([following])
    return following.text
  }

  /// Waits until no job is under way.
  func idle() async {
    while cache.renderer.workers.counts != (0, 0), !Task.isCancelled { await Task.yield() }
  }
}

extension ImageProgress {
  var preview: (image: CachedImage, preview: ImagePreview)? {
    if case .preview(let image, let preview) = self { (image, preview) } else { nil }
  }

  var finished: CachedImage? { if case .finished(let image) = self { image } else { nil } }
}

/// Reads a stream of progress in a task of its own.
final class Following: Sendable {
  let previewed = Counter()
  private let seen = Lock<[String]>([])
  private let task = Lock<Task<Void, Never>?>(nil)

  /// Previews and the image, such as "1 2 settled 999", or "1 rows 0.1 2 embedded 3 999".
  var text: String { seen.withLock { $0.joined(separator: " ") } }

  init(
    _ cache: ImageCache, _ photo: Photo = Photo("1"), _ format: ImageFormat = .row,
    _ options: LoadOptions = .previewing
  ) {
    let steps = cache.progress(for: photo, format: format, options: options)
    let task = Task { [seen, previewed] in
      for await step in steps {
        if let (image, preview) = step.preview {
          let number = image.isPrivate ? image.solidNumber.map { "\($0)" } ?? "?" : "stored"
          let kind =
            switch preview.kind {
            case .rows(let part): " rows \(part)"
            case .embedded: " embedded"
            default: preview.isSettled ? " settled" : ""
            }
          seen.withLock { $0.append(number + kind) }
          previewed.increment()
        } else if let image = step.finished {
          seen.withLock { $0.append("\(image.solidNumber ?? 0)") }
        }
      }
    }
    self.task.withLock { $0 = task }
  }

  func cancel() { task.withLock { $0?.cancel() } }

  /// Waits until the stream has ended.
  func ends() async { await task.withLock { $0 }?.value }
}

/// A file that comes in small pieces, with time for a preview after each: its previews and its image.
struct SlowFile {
  private(set) var previews: [(pixels: [UInt8], preview: ImagePreview)] = []
  private(set) var image: [UInt8] = []

  /// - Parameters:
  ///   - pieceByteCount: The size of a piece.
  ///   - kinds: The previews that are wanted.
  ///   - drawing: Draws them and the image.
  init(
    _ data: Data, in format: ImageFormat, pieceByteCount: Int = 200,
    _ kinds: PreviewPolicy.Kinds = .frames, drawing: Drawing = .stretch
  ) async throws {
    let (clock, resources, seen) = (ManualClock(), LoadResources(), Counter())
    let decoder = try CountingDecoder(data)
    let terms = ResponseMetadata(fields: ["Content-Length": "\(data.count)"], received: Date())
    let source = ClosureImageSource { request in
      let arrival = request.begin(terms)
      while arrival.byteCount < data.count {
        try arrival.append(data.dropFirst(arrival.byteCount).prefix(pieceByteCount))
        clock.advance(by: .seconds(1000))
        while resources.workers.counts != (0, 0), !Task.isCancelled { await Task.yield() }
        await seen.reaches(decoder.drawn.value)
      }
      return .arrived(arrival)
    }
    let fixture = try await Fixture([format == .dot ? .large : format, .dot], from: source) {
      ($0.clock, $0.resources, $0.decoders) = (clock, resources, [decoder])
    }
    var options = LoadOptions.previewing
    (options.previews.kinds, options.previews.limit) = (kinds, 20)
    var photo = Photo("1")
    photo.drawing = drawing
    for await step in fixture.cache.progress(for: photo, format: format, options: options) {
      if let (image, preview) = step.preview {
        previews.append((Self.pixels(image), preview))
        seen.increment()
      }
      if let image = step.finished { self.image = Self.pixels(image) }
    }
    try #require(!image.isEmpty)
  }

  private static func pixels(_ image: CachedImage) -> [UInt8] {
    image.withPixels { span in span.withUnsafeBytes { Array($0) } }
  }
}

/// The library's own decoder of a file, with a count of the previews that it has made and that show more than
/// the ones before.
private final class CountingDecoder: ProgressiveImageDecoder {
  let drawn = Counter()
  private let part = Lock(0.0)
  private let base: any ProgressiveImageDecoder

  init(_ data: Data) throws {
    base = try #require(
      try ImageDecoders.standard.decoder(for: data) as? any ProgressiveImageDecoder)
  }

  func recognizes(_ firstBytes: Data) -> Bool { base.recognizes(firstBytes) }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    try base.header(of: data)
  }

  func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
    base.workingByteCount(for: header, minimumSize: minimumSize)
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    try base.decode(data, request)
  }

  func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
    base.makePreviewScanner(of: byteCount)
  }

  func decodePreview(
    _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> DecodedPreview {
    let preview = try base.decodePreview(bytes, at: stage, request)
    let showsMore = part.withLock { part in
      guard let newPart = preview.part else { return true }
      defer { part = max(part, newPart) }
      return newPart > part
    }
    if showsMore { drawn.increment() }
    return preview
  }
}
