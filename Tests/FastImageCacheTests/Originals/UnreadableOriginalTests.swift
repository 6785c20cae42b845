import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("An original on a locked device", .timeLimit(.minutes(10)))
struct LockedOriginalTests {
  /// Locked once the index was read, or before.
  @Test("is no miss for requests that go no further", arguments: [true, false])
  func isNoMiss(isOpen: Bool) async throws {
    let originals = MemoryOriginals()
    try originals.put(7, as: "test:/7")
    originals.locks.withLock { $0 = isOpen ? .files : .index }
    let source = EncodedSource()
    let fixture = try await Fixture(from: source, originals: originals)
    for policy in [LoadOptions.CachePolicy.useCache, .revalidate, .reload] {
      // The policies that have to ask read nothing that is kept.
      let isRead = policy == .useCache || !isOpen
      await #expect(
        throws: isRead ? ImageCacheError.originalsLocked : .notCached(entity: "7", format: "row")
      ) {
        try await fixture.image(Photo("7"), .row, LoadOptions(policy, scope: .cache))
      }
    }
    #expect(source.started.value == 0)
    // Else the next request may join a load that has found the lock.
    await fixture.quiet()
    originals.locks.withLock { $0 = nil }
    let image = try await fixture.image(Photo("7"), .row, LoadOptions(scope: .cache))
    #expect(image.solidNumber == 7)
  }

  @Test(
    "keeps nothing where a request goes to the network, and drops the former",
    arguments: [true, false])
  func keepsNothing(isOpen: Bool) async throws {
    let originals = MemoryOriginals()
    try originals.put(7, as: "test:/7")
    originals.locks.withLock { $0 = isOpen ? .files : .index }
    let source = EncodedSource { _, _ in .encoded(try solid(8).pngData()) }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    #expect(try await fixture.image(Photo("7")).solidNumber == 8)
    await fixture.quiet()
    if !isOpen {
      try await fixture.cache.store(try solid(9).pngData(), for: Photo("7"), format: .large)
    }
    #expect(originals["test:/7"] == nil)
    #expect(originals.writes.value == 0)
  }

  @Test("is one to its store, before and after that has read the index")
  func inStore() async throws {
    let directory = try TemporaryDirectory()
    let device = LockableDevice()
    func store() -> OriginalStore {
      OriginalStore(directory.url, 1 << 24, .init(), .complete, system: device.system) {
        originalTime * 1_000_000
      }
    }
    let photo = Photo("7")
    let kept = LoadOptions(scope: .cache)
    let first = store()
    let fixture = try await Fixture([.row, .large], from: EncodedSource()) { $0.originals = first }
    let events = fixture.cache.events()
    _ = try await fixture.image(photo)
    for await case .original(_, .stored) in events { break }
    // The store lets go of the bytes in memory after the event.
    await first.queueIsDone()
    device.lock()
    await #expect(throws: ImageCacheError.originalsLocked) {
      try await fixture.image(photo, .large, kept)
    }
    let second = store()
    let later = try await Fixture([.large], from: EncodedSource()) { $0.originals = second }
    await #expect(throws: ImageCacheError.originalsLocked) {
      try await later.cache.image(for: photo, format: .large, options: kept)
    }
    device.unlock()
    for fixture in [fixture, later] {
      let image = try await fixture.image(photo, .large, kept)
      #expect(image.solidNumber == 7)
    }
  }
}

@Suite("A kept original without memory for its image", .timeLimit(.minutes(10)))
struct NeedyOriginalTests {
  /// Decodes PNG, unless a closure throws before.
  private struct NeedyDecoder: ImageDecoder {
    /// Given whether only the header is read.
    let begin: @Sendable (_ isHeader: Bool) throws(ImageDecodingError) -> Void
    private let decoder = ImageDecoders.standard.first { $0.recognizes(NeedyOriginalTests.png) }!

    init(begin: @escaping @Sendable (_ isHeader: Bool) throws(ImageDecodingError) -> Void) {
      self.begin = begin
    }

    func recognizes(_ firstBytes: Data) -> Bool { decoder.recognizes(firstBytes) }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try begin(true)
      return try decoder.header(of: data)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try begin(false)
      return try decoder.decode(data, request)
    }
  }

  fileprivate static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

  @Test("stays, and answers once there is", arguments: [true, false])
  func stays(needsHeader: Bool) async throws {
    let (source, originals, isShort) = (EncodedSource(), MemoryOriginals(), Lock(false))
    let decoder = NeedyDecoder { isHeader throws(ImageDecodingError) in
      if isHeader == needsHeader, isShort.withLock({ $0 }) { throw .outOfMemory }
    }
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.decoders = [decoder]
    }
    _ = try await fixture.image(Photo("7"))
    await originals.written.reaches(1)
    try await fixture.cache.removeImage(for: Photo("7"), format: .row)
    isShort.withLock { $0 = true }
    await #expect(throws: ImageCacheError.self) { try await fixture.image(Photo("7")) }
    isShort.withLock { $0 = false }
    let image = try await fixture.image(Photo("7"))
    #expect(image.solidNumber == 7 && source.started.value == 1)
  }
}
