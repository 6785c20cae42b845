import Foundation
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A cache whose folder cannot be used", .timeLimit(.minutes(10)))
struct StorageStateTests {
  private let directory: TemporaryDirectory
  private let photo = Photo("a", url: "test:/5")

  init() throws { directory = try TemporaryDirectory() }

  private func cache(
    _ namespace: String = "test", source: ScriptedSource = ScriptedSource(),
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.directory = directory.url
    configuration.source = source
    configure(&configuration)
    return try await ImageCache(
      namespace: namespace, formats: [.row], configuration: configuration)
  }

  /// The events of one namespace until one that a test sends.
  private func events(
    of namespace: String, in stream: AsyncStream<ProcessEvent>
  ) async -> [CacheEvent] {
    var events: [CacheEvent] = []
    for await element in stream where element.namespace == namespace {
      if case .missed = element.event { break }
      events.append(element.event)
    }
    return events
  }

  @Test("goes on in memory where the folder is a file, and says so", arguments: [false, true])
  func goesOnInMemory(isAtOnce: Bool) async throws {
    let file = directory.url.appendingPathComponent("file")
    try Data().write(to: file)
    let namespace = UUID().uuidString
    let stream = ImageCache.allEvents()
    let source = ScriptedSource()
    var configuration = ImageCache.Configuration()
    (configuration.directory, configuration.source) = (file, source)
    let cache =
      isAtOnce
      ? try ImageCache.open(namespace: namespace, formats: [.row], configuration: configuration)
      : try await ImageCache(namespace: namespace, formats: [.row], configuration: configuration)
    let path = cache.directory.path
    #expect(path.hasPrefix(file.path + "/"))
    let state = StorageState.unavailable(
      reason: "\(file.path) is a file or a link in the place of a folder.")
    #expect(cache.storageState == state)
    #expect(await cache.statistics().tables.map(\.storageState) == [state])
    for _ in 0..<2 {
      #expect(try await cache.image(for: photo, format: .row).solidNumber == 5)
    }
    #expect(source.started.value == 1)
    let told = await events(of: namespace, in: stream)
    guard told.count == 1, case .storageChanged("row", state)? = told.first else {
      Issue.record("\(told)")
      return
    }
    await #expect(throws: ImageCacheError.self) { try await cache.flush() }
    await cache.close()
    #expect(try Data(contentsOf: file).isEmpty)
  }

  @Test(
    "shows what is there on a disk that takes no files, and draws the rest",
    arguments: [EROFS, ENOSPC])
  func readsWhatIsThere(code: Int32) async throws {
    let earlier = try await cache()
    #expect(earlier.storageState == .ready)
    try await earlier.store(solid(4), for: Photo("b"), format: .row)
    await earlier.close()
    let source = ScriptedSource()
    let disk = ReadOnlyDisk(code: code)
    let cache = try await cache(source: source) { $0.system = disk.system }
    let table = try cache.directory.path + "/" + TableDirectory.safeName(for: "row") + ".imagetable"
    let reason =
      code == ENOSPC
      ? "The disk of \(table) is full."
      : "Cannot open \(table): \(String(cString: strerror(code)))."
    #expect(cache.storageState == .readOnly(reason: reason))
    #expect(cache.cachedImage(for: Photo("b"), format: .row)?.solidNumber == 4)
    #expect(try await cache.image(for: photo, format: .row).solidNumber == 5)
    #expect(cache.cachedImage(for: photo, format: .row)?.solidNumber == 5)
    #expect(source.started.value == 1)
    disk.becomeWritable()
    try await cache.flush()
    #expect(cache.storageState == .ready)
    await cache.close()
    #expect(try await self.cache().containsImage(for: photo, format: .row))
  }

  @Test("does not open where its images must reach the disk", arguments: [EROFS, ENOSPC])
  func requiresStorage(code: Int32) async throws {
    await #expect(throws: ImageCacheError.self) {
      try await cache {
        $0.requiresStorage = true
        $0.system = ReadOnlyDisk(code: code).system
      }
    }
    let earlier = try await cache()
    await earlier.close()
    do {
      _ = try await cache {
        $0.requiresStorage = true
        $0.system = ReadOnlyDisk(code: code).system
      }
      Issue.record("It was opened.")
    } catch ImageCacheError.storageUnavailable(let text) {
      #expect(
        text.hasPrefix("Cannot open /") && text.hasSuffix(".imagetable: Read-only file system."))
    } catch ImageCacheError.diskFull {
      #expect(code == ENOSPC)
    }
  }

  @Test("still refuses what its caller got wrong")
  func refusesMistakes() async throws {
    let disk = ReadOnlyDisk(code: EROFS)
    let cache = try await cache { $0.system = disk.system }
    #expect(cache.storageState != .ready)
    await #expect(throws: ImageCacheError.invalidNamespace("")) {
      try await self.cache("") { $0.system = disk.system }
    }
  }

  // MARK: Folders of others

  @Test(
    "warns of a folder that every user may write to, unless it protects names",
    arguments: [0o777, 0o1777, 0o755])
  func warnsOfOpenFolders(mode: Int) async throws {
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: directory.url.path)
    let namespace = UUID().uuidString
    let stream = ImageCache.allEvents()
    let cache = try await cache(namespace)
    #expect(cache.storageState == .ready)
    _ = try await cache.image(for: photo, format: .row)
    let told = await events(of: namespace, in: stream).map { "\($0)" }
    #expect(told.count == (mode == 0o777 ? 1 : 0))
    #expect(
      told.allSatisfy { $0.contains("Every user may change the files in \(directory.url.path).") })
  }

  @Test(
    "uses no folder of another user, whose owner could exchange it",
    .enabled(if: geteuid() == 0, "Only root gives away."))
  func refusesForeignFolders() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let earlier = try await Fixture(directory: directory).cache
      let path = earlier.directory.path
      await earlier.close()
      guard chmod(directory.url.path, 0o777) == 0, chmod(path, 0o777) == 0,
        chown(path, 12_345, 12_345) == 0
      else { exit(2) }
      // The superuser may use it.
      let ready = try await Fixture(directory: directory).cache
      guard ready.storageState == .ready else { exit(3) }
      await ready.close()
      guard setuid(54_321) == 0 else { exit(4) }
      let cache = try await Fixture(directory: directory).cache
      guard cache.storageState == .unavailable(reason: "\(path) belongs to another user.")
      else { exit(5) }
      do {
        _ = try await Fixture(directory: directory) { $0.requiresStorage = true }
        exit(6)
      } catch ImageCacheError.storageUnavailable { exit(0) }
    }
  }
}
