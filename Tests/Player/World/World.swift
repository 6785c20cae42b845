import FastImageCache
import Foundation
import Locking
import TestSupport

/// All that stands outside the cache: pictures and when they changed, files, a server, a clock, and planted faults.
final class World: Sendable {
  let folder: URL
  let timeline: Timeline
  let files = MarkFiles()
  let plant: Plant?
  private let seconds = Lock(0.0)
  private let serverBox = Lock<PictureServer?>(nil)
  private let portBox = Lock<Int?>(nil)
  /// The cache that nested sources ask.
  let asked = Lock<ImageCache?>(nil)
  private let random: Lock<SplitMix64>
  /// How long a call may take.
  let patience: Duration

  init(folder: URL, seed: UInt64, plant: Plant?, patience: Duration) throws {
    (self.folder, self.plant, self.patience) = (folder, plant, patience)
    timeline = Timeline(subjectCount: Subject.all.count)
    random = Lock(SplitMix64(state: seed ^ 0x5eed))
    let server = try PictureServer(self)
    portBox.withLock { $0 = server.url("").port }
    serverBox.withLock { $0 = server }
    try FileManager.default.createDirectory(at: filesFolder, withIntermediateDirectories: true)
    for subject in Subject.all where subject.scheme == .file { try write(subject) }
  }

  /// The world as another process has it: the same files and the same server.
  init(joining folder: URL, port: Int) throws {
    (self.folder, plant, patience) = (folder, nil, .seconds(10))
    portBox.withLock { $0 = port }
    timeline = Timeline(subjectCount: Subject.all.count)
    random = Lock(SplitMix64(state: 1))
  }

  /// Of the server, which may be another process's.
  var port: Int? { portBox.withLock { $0 } }

  func address(_ path: String) -> URL? {
    port.flatMap { URL(string: "http://127.0.0.1:\($0)\(path)") }
  }

  /// Takes over what another process told.
  func learn(_ revisions: [Int], seconds count: Double) {
    timeline.catchUp(revisions)
    seconds.withLock { $0 = count }
  }

  /// How long a source waits: what hangs on purpose is found sooner.
  var sourcePatience: Duration { plant == .noAnswer ? patience * 5 : patience }

  var server: PictureServer? { serverBox.withLock { $0 } }

  /// Ends the server, which holds the world.
  func end() {
    serverBox.withLock { $0 = nil }
    asked.withLock { $0 = nil }
  }

  // MARK: Time

  /// The system's time, and what has passed in steps.
  var now: Date { Date(timeIntervalSinceNow: seconds.withLock { $0 }) }

  var passedSeconds: Double { seconds.withLock { $0 } }

  func pass(seconds count: Double) {
    if plant == .stoppedClock { return }
    seconds.withLock { $0 += count }
  }

  // MARK: Chance

  func chance(_ one: Int, in count: Int) -> Bool { roll(count) < one }

  func roll(_ count: Int) -> Int { random.withLock { Int.random(in: 0..<count, using: &$0) } }

  /// Whether a fault that spoils answers spoils this one.
  func strikes(_ plant: Plant) -> Bool { self.plant == plant && chance(1, in: 6) }

  // MARK: Pictures

  private var filesFolder: URL { folder.appending(path: "files") }

  func url(of subject: Subject, revision: Int, query: String? = nil) -> URL? {
    switch subject.scheme {
    case .file: filesFolder.appending(path: "\(subject.number)")
    case .data:
      (try? files.data(of: Mark(subject: subject.number, revision: revision), subject.fileKind))
        .flatMap { URL(string: "data:image/*;base64,\($0.base64EncodedString())") }
    case .http: address("/\(subject.number)" + (query.map { "?\($0)" } ?? ""))
    case .play, .nested: URL(string: "\(subject.scheme.rawValue):/\(subject.number)")
    case .own: nil
    }
  }

  /// Changes a subject's picture, at its source.
  func change(_ subject: Subject) throws {
    timeline.change(subject.number)
    if subject.scheme == .file { try write(subject) }
  }

  /// The picture that a source answers with now.
  func mark(of subject: Subject, account: Int) -> Mark {
    var mark = Mark(
      subject: subject.number, revision: timeline.revision(of: subject.number), account: account)
    if strikes(.otherPicture) { mark.subject = (mark.subject + 1) % Subject.all.count }
    if strikes(.otherAccount) { mark.account = (mark.account + 1) % 3 }
    if strikes(.oldPicture) { mark.revision = max(0, mark.revision - 5) }
    return mark
  }

  /// The answer of a source that is no server.
  func answer(for subject: Subject, account: Int) async throws -> ImageSourceResponse {
    if !subject.isSteady, chance(1, in: 4) { throw PlayedFailure() }
    let mark = mark(of: subject, account: account)
    if chance(1, in: 3) {
      for _ in 0..<roll(20) { await Task.yield() }
    }
    if strikes(.halfPicture) { return .bitmap(try half(mark)) }
    return chance(1, in: 3) && !subject.isAnimated
      ? .bitmap(try mark.bitmap()) : .encoded(try files.data(of: mark, subject.fileKind))
  }

  private func half(_ mark: Mark) throws -> Bitmap {
    var other = mark
    other.revision ^= 0x155
    let (one, two) = (try mark.bitmap(), try other.bitmap())
    let bytes = one.withPixels { $0.withUnsafeBytes { Array($0) } }
    let rest = two.withPixels { $0.withUnsafeBytes { Array($0) } }
    return try Bitmap(
      copying: bytes.prefix(bytes.count / 2) + rest.suffix(rest.count - bytes.count / 2),
      layout: one.layout)
  }

  // MARK: What is left

  /// Opens a file of the walk, for good.
  func leaveDescriptor() {
    _ = open(
      filesFolder.appending(path: "\(Subject.all.first { $0.scheme == .file }?.number ?? 0)").path,
      O_RDONLY)
  }

  /// Puts a file among the bodies of originals that no row names.
  func leaveBody(in folder: URL) {
    let bodies = folder.appending(path: "bodies")
    try? FileManager.default.createDirectory(at: bodies, withIntermediateDirectories: true)
    try? Data(count: 100).write(to: bodies.appending(path: "00000000000f423f-0000000000000001"))
  }

  /// In place of the former file, all at once.
  private func write(_ subject: Subject) throws {
    let mark = mark(of: subject, account: 0)
    try files.data(of: mark, subject.fileKind)
      .write(to: filesFolder.appending(path: "\(subject.number)"), options: .atomic)
  }
}

/// What a flaky source that is no server throws.
struct PlayedFailure: Error {}
