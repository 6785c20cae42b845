import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A suspended cache", .timeLimit(.minutes(10)))
struct SuspendingTests {
  /// Whether nobody has any file of the cache locked, asked with descriptors of its own.
  private func isUnlocked(_ cache: ImageCache) throws -> Bool {
    let names = try FileManager.default.contentsOfDirectory(atPath: cache.directory.path)
    return names.allSatisfy { name in
      let descriptor = open(cache.directory.path + "/" + name, O_RDWR | O_CLOEXEC)
      defer {
        // Closing alone leaves the lock to a child that is being made and has not let go yet.
        flock(descriptor, LOCK_UN)
        close(descriptor)
      }
      return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
  }

  @Test("has no file locked, shows what it showed, and takes its tables again")
  func letsGoAndTakesBack() async throws {
    let fixture = try await Fixture([.row, .large])
    let cache = fixture.cache
    let held = try await cache.store(solid(12), for: Photo("a"), format: .row)
    #expect(try !isUnlocked(cache))
    try await cache.suspend()
    #expect(try isUnlocked(cache))
    #expect(held.solidNumber == 12)
    #expect(cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 12)
    await cache.resume()
    #expect(try !isUnlocked(cache))
    #expect(held.solidNumber == 12)
    #expect(cache.cachedImage(for: Photo("a"), format: .row)?.isPrivate == false)
  }

  @Test("answers requests, and keeps the images for later")
  func loads() async throws {
    let fixture = try await Fixture()
    try await fixture.cache.suspend()
    let photo = Photo("a", url: "test:/7")
    #expect(try await fixture.cache.image(for: photo, format: .row).solidNumber == 7)
    #expect(try isUnlocked(fixture.cache))
    await fixture.cache.resume()
    await fixture.cache.close()
    let reopened = try await Fixture(directory: fixture.directory)
    #expect(reopened.cache.cachedImage(for: photo, format: .row)?.solidNumber == 7)
  }

  @Test("keeps no spare memory, nor does a closed one")
  func keepsNoSpareMemory() async throws {
    let fixture = try await Fixture()
    let cache = fixture.cache
    #expect(cache.spareMemory.isUnderWay)
    try await cache.suspend()
    #expect(!cache.spareMemory.isUnderWay)
    await cache.resume()
    #expect(cache.spareMemory.isUnderWay)
    await cache.close()
    await cache.resume()
    #expect(!cache.spareMemory.isUnderWay)
  }

  @Test("cannot be had from a closed one", arguments: [ImageFormat.Devices.all, .phone])
  func refusesClosed(devices: ImageFormat.Devices) async throws {
    let size = PixelSize(width: 8, height: 8)
    let fixture = try await Fixture([
      ImageFormat(name: "row", size: .exact(size), capacity: 4, devices: devices)
    ])
    await fixture.cache.close()
    await #expect {
      try await fixture.cache.suspend()
    } throws: { error in
      if case ImageCacheError.closed = error { true } else { false }
    }
    await fixture.cache.resume()
  }
}
