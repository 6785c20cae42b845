import Foundation
import Locking
import TableStore
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
    #expect(try await fixture.image(photo).solidNumber == 7)
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

@Suite("A cache in memory", .timeLimit(.minutes(10)))
struct InMemoryTests {
  private let source = ScriptedSource()

  private func cache(
    _ formats: [ImageFormat] = [.row], system: SystemCalls = .live
  ) throws(ImageCacheError) -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.source = source
    configuration.device = .desktop
    configuration.system = system
    return try ImageCache.inMemory(formats: formats, configuration: configuration)
  }

  @Test("is there without waiting, loads what is missing, and finds it again in its table")
  func loads() async throws {
    let cache = try cache()
    let photo = Photo("a", url: "test:/5")
    #expect(cache.cachedImage(for: photo, format: .row) == nil)
    #expect(try await cache.image(for: photo, format: .row).solidNumber == 5)
    let hit = try #require(cache.cachedImage(for: photo, format: .row))
    #expect(!hit.isPrivate && hit.solidNumber == 5)
    #expect(source.started.value == 1)
    #expect(await cache.statistics().tables.map(\.entryCount) == [1])
  }

  @Test("has a folder that is not there, whose removal takes nothing away")
  func hasNoFolder() throws {
    let directory = try cache().directory
    // First: root may remove the device itself.
    try #require(directory.path.hasPrefix("/dev/null/"))
    #expect(throws: (any Error).self) { try FileManager.default.removeItem(at: directory) }
    #expect(FileManager.default.fileExists(atPath: "/dev/null"))
  }

  @Test("goes on through flush, suspend and resume, and ends with close, not with the images held")
  func goesOn() async throws {
    let cache = try cache()
    let held = try await cache.store(solid(1), for: Photo(1), format: .row)
    try await cache.flush()
    try await cache.suspend()
    try await cache.store(solid(2), for: Photo(2), format: .row)
    try await cache.flush()
    await cache.resume()
    try await cache.flush()
    let numbers = (1...2).map {
      cache.cachedImage(for: Photo(ImageID($0)), format: .row)?.solidNumber
    }
    #expect(numbers == [1, 2])
    await cache.close()
    #expect(cache.cachedImage(for: Photo(1), format: .row) == nil)
    #expect(held.solidNumber == 1)
    await #expect(throws: ImageCacheError.self) {
      try await cache.store(solid(3), for: Photo(3), format: .row)
    }
  }

  @Test("shares nothing with another one of the same formats")
  func isAlone() async throws {
    let first = try cache()
    let second = try cache()
    try await first.store(solid(1), for: Photo(1), format: .row)
    #expect(!second.containsImage(for: Photo(1), format: .row))
    await second.close()
    #expect(first.cachedImage(for: Photo(1), format: .row)?.solidNumber == 1)
  }

  @Test("never gives a file a name, so that nothing stays behind whenever the process is killed")
  func hasNoNames() async throws {
    let calls = Lock<Set<SystemCall.Kind>>([])
    let cache = try cache(
      [.large, .dot],
      system: SystemCalls { call throws(SystemError) in
        let kind = call.kind
        calls.withLock { _ = $0.insert(kind) }
      })
    try await cache.store(solid(1), for: Photo(1), format: .large)
    try await cache.suspend()
    await cache.resume()
    try await cache.removeAllImages()
    try await cache.flush()
    await cache.close()
    let byName: Set<SystemCall.Kind> = [
      .openDirectory, .makeDirectory, .list, .open, .rename, .unlink,
    ]
    let made = calls.withLock { $0 }
    #expect(made.isSuperset(of: [.makeMemoryFile, .write, .map]))
    #expect(made.isDisjoint(with: byName))
  }

  @Test("says so when the system makes no such file")
  func isRefused() throws {
    for (code, isFull) in [(ENOSPC, true), (EPERM, false)] {
      let refusing = SystemCalls { call throws(SystemError) in
        if call.kind == .makeMemoryFile { throw SystemError(call: .makeMemoryFile, code: code) }
      }
      let error = #expect(throws: ImageCacheError.self) { try cache(system: refusing) }
      #expect((error == .diskFull) == isFull)
    }
  }
}
