import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import TableStore

@Suite("A cache on a device that can be locked", .timeLimit(.minutes(10)))
struct ProtectedTableTests {
  private let device = LockableDevice(refusing: [.open, .protect, .read, .write])
  private let locked = ImageCacheError.protectedDataUnavailable(format: "secret")
  private let photo = Photo("a", url: "test:/5")

  private let secret = ImageFormat("secret", protection: .complete)

  private func open(in directory: TemporaryDirectory? = nil) async throws -> Fixture {
    try await Fixture([secret], directory: directory) { $0.system = device.system }
  }

  /// Stores image 5 in a session that ends.
  private func leaveImage(in directory: TemporaryDirectory) async throws -> Photo {
    let first = try await open(in: directory)
    try await first.cache.store(solid(5), for: photo, format: secret)
    await first.cache.close()
    return photo
  }

  @Test("refuses to be opened while it is locked, and has its images afterwards")
  func opens() async throws {
    let directory = try TemporaryDirectory()
    let photo = try await leaveImage(in: directory)
    device.lock()
    await #expect(throws: locked) { try await open(in: directory) }
    device.unlock()
    let second = try await open(in: directory)
    #expect(second.cache.cachedImage(for: photo, format: secret)?.solidNumber == 5)
  }

  @Test("says that an image cannot be read now, and does not load it again")
  func answers() async throws {
    let fixture = try await open()
    let cache = fixture.cache
    let held = try await cache.image(for: photo, format: secret)
    #expect(held.isPrivate && cache.containsImage(for: photo, format: secret))
    device.lock()
    #expect(cache.cachedImage(for: photo, format: secret) == nil)
    await #expect(throws: locked) { try await cache.image(for: photo, format: secret) }
    var steps: [ImageProgress] = []
    for await step in cache.progress(for: photo, format: secret) { steps.append(step) }
    guard case .failed(.protectedDataUnavailable(format: "secret"))? = steps.last, steps.count == 1
    else {
      Issue.record("The stream said \(steps).")
      return
    }
    #expect(held.solidNumber == 5)
    #expect(fixture.source.started.value == 1)
    #expect(await cache.statistics().failures == 2)
    // An image that is nowhere is loaded all the same, and not kept.
    let other = Photo("b", url: "test:/6")
    let loaded = try await cache.image(for: other, format: secret)
    #expect(loaded.isPrivate && loaded.solidNumber == 6)
    #expect(await cache.statistics().failedStores == 1)
    device.unlock()
    #expect(cache.cachedImage(for: photo, format: secret)?.solidNumber == 5)
    #expect(fixture.source.started.value == 2)
  }

  @Test("says so of an image of an earlier run too, and of its id")
  func answersForEarlier() async throws {
    let directory = try TemporaryDirectory()
    let photo = try await leaveImage(in: directory)
    let second = try await open(in: directory)
    device.lock()
    #expect(second.cache.cachedImage(for: photo, format: secret) == nil)
    await #expect(throws: locked) { try await second.cache.image(for: photo, format: secret) }
    await #expect(throws: locked) {
      try await second.cache.removeImage(for: photo.id, format: secret)
    }
    device.unlock()
    #expect(try await second.cache.image(for: photo, format: secret).solidNumber == 5)
    #expect(second.source.started.value == 0)
  }

  @Test("prefetches nothing into a table that can take nothing, and tells why")
  func prefetches() async throws {
    let fixture = try await open()
    let (cache, events) = (fixture.cache, fixture.cache.events())
    let photos = (1...3).map { Photo(ImageID("\($0)"), url: "test:/\($0)") }
    _ = try await cache.image(for: photos[0], format: secret)
    device.lock()
    let progress = await cache.prefetch(photos, format: secret)
    #expect(progress.failedCount == 3 && progress.isFinished)
    #expect(fixture.source.started.value == 1)
    device.unlock()
    #expect(await cache.prefetch(photos, format: secret).loadedCount == 3)
    #expect(fixture.source.started.value == 3)
    await cache.close()
    var reasons: [ImageCacheError] = []
    for await event in events {
      if case .failed(_, format: "secret", let reason) = event { reasons.append(reason) }
    }
    #expect(reasons == Array(repeating: .protectedDataUnavailable(format: "secret"), count: 3))
  }

  @Test("is opened while the table of a format that is not listed any more stays locked")
  func leavesOthers() async throws {
    let directory = try TemporaryDirectory()
    let photo = try await leaveImage(in: directory)
    // Nothing else of the cache reads or opens files: its tables are not of the class.
    device.lock()
    let other = try await Fixture([], directory: directory) { $0.system = device.system }
    await other.cache.close()
    device.unlock()
    let second = try await open(in: directory)
    #expect(second.cache.cachedImage(for: photo, format: secret)?.solidNumber == 5)
  }

  @Test("refuses to change what cannot be read now")
  func changes() async throws {
    let fixture = try await open()
    let cache = fixture.cache
    try await cache.store(solid(5), for: photo, format: secret)
    device.lock()
    await #expect(throws: locked) {
      try await cache.setMetadata(Data([7]), for: photo, format: secret)
    }
    await #expect(throws: locked) { try await cache.store(solid(6), for: photo, format: secret) }
    await #expect(throws: locked) { try await cache.removeImage(for: photo, format: secret) }
    await #expect(throws: locked) { try await cache.removeAllImages(in: secret) }
    await #expect(throws: locked) { try await cache.flush() }
    await #expect(throws: locked) { try await cache.suspend() }
    device.unlock()
    #expect(cache.cachedImage(for: photo, format: secret)?.solidNumber == 5)
    // Nothing has to be opened again.
    try await cache.setMetadata(Data([7]), for: photo, format: secret)
    #expect(cache.cachedImage(for: photo, format: secret)?.metadata == Data([7]))
    try await cache.removeImage(for: photo, format: secret)
    try await cache.flush()
  }

  @Test("maps the tables of all classes but the complete one")
  func maps() async throws {
    let formats = [ImageFormat.Protection.none, .complete, .untilFirstUnlock].map {
      ImageFormat(
        name: $0.rawValue, size: .exact(PixelSize(width: 8, height: 8)), capacity: 4, protection: $0
      )
    }
    let cache = try await Fixture(formats) { $0.system = device.system }.cache
    let isMapped = await cache.statistics().tables.map { $0.mappedByteCount > 0 }
    #expect(isMapped == [true, false, true])
  }
}
