import Foundation
import Locking
import Pixels
import TestSupport

@testable import FastImageCache

/// A decoder of files that are previewed each hundred bytes; a preview is a solid picture of the number of its
/// stage, the picture one of 999.
final class SketchDecoder: ProgressiveImageDecoder {
  static let size = PixelSize(width: 16, height: 16)
  static let magic = Data("sketch".utf8)

  struct Scanner: PreviewScanner {
    private var byteCount = 0
    private let settled: Int?

    init(settledStage settled: Int?) { self.settled = settled }

    mutating func receive(_ bytes: Data) -> PreviewStage? {
      let before = byteCount / 100
      byteCount += bytes.count
      let stage = byteCount / 100
      guard stage > before else { return nil }
      return PreviewStage(
        byteCount: stage * 100, settledReduction: settled.map { stage >= $0 } == true ? 1 : nil)
    }
  }

  /// Counts the scanners, the previews that have begun, and those that have ended.
  let (scanned, begun, ended) = (Counter(), Counter(), Counter())
  private let settledStage: Int?
  private let isDamaged: Bool
  private let willDecode: @Sendable () -> Void
  private let willEnd: @Sendable (_ isCancelled: @Sendable () -> Bool) -> Void

  /// - Parameters:
  ///   - isDamaged: Whether no preview can be made.
  ///   - willDecode: Called before the picture is decoded, on its worker.
  ///   - willEnd: Called in each preview, on its worker.
  init(
    settledStage: Int? = nil, isDamaged: Bool = false,
    willDecode: @escaping @Sendable () -> Void = {},
    willEnd: @escaping @Sendable (_ isCancelled: @Sendable () -> Bool) -> Void = { _ in }
  ) {
    (self.settledStage, self.isDamaged) = (settledStage, isDamaged)
    (self.willDecode, self.willEnd) = (willDecode, willEnd)
  }

  func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: Self.magic) }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    guard recognizes(data) else { throw .unknownType }
    return ImageHeader(size: Self.size)
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    willDecode()
    return try bitmap(999)
  }

  func makePreviewScanner(of byteCount: Int?) -> any PreviewScanner {
    scanned.increment()
    return Scanner(settledStage: settledStage)
  }

  func decodePreview(
    _ bytes: Data, at stage: PreviewStage, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> DecodedPreview {
    begun.increment()
    defer { ended.increment() }
    guard bytes.count == stage.byteCount, recognizes(bytes) else { throw .truncated }
    willEnd(request.isCancelled)
    if isDamaged { throw .damaged("Nothing can be seen yet.") }
    return DecodedPreview(try bitmap(stage.byteCount / 100))
  }

  private func bitmap(_ number: Int) throws(ImageDecodingError) -> Bitmap {
    do { return try solid(number, size: Self.size) } catch { throw .outOfMemory }
  }
}

/// A cache whose pictures come in pieces, when the test says so.
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
    let terms = OriginalTerms(fields: ["Content-Length": "\(total)"], received: Date())
    let source = ClosureImageSource { request, _ in
      let arrival = request.begin(terms)
      asked.increment()
      for await size in sizes {
        try arrival.append(bytes[arrival.byteCount..<min(arrival.byteCount + size, total)])
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

  /// Lets the rest arrive.
  func finish() { steps.finish() }

  /// Waits until no job is under way.
  func idle() async {
    while cache.maker.workers.counts != (0, 0), !Task.isCancelled { await Task.yield() }
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

  /// Previews and the picture, such as "1 2 settled 999".
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
          seen.withLock { $0.append(preview.isSettled ? "\(number) settled" : number) }
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
