import Foundation
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

/// A path below a file, and a folder in which none can be made: what is named is there.
@Suite("The error of a folder that cannot be used", .timeLimit(.minutes(10)))
struct BlockedPathTests {
  private let directory: TemporaryDirectory
  private let file: URL

  init() throws {
    directory = try TemporaryDirectory()
    file = directory.url.appendingPathComponent("file")
    try Data().write(to: file)
  }

  private var blocked: ImageCacheError {
    .storageUnavailable("\(file.path) is a file or a link in the place of a folder.")
  }

  private func configuration(
    _ folder: URL, _ system: SystemCalls = .live
  ) -> ImageCache.Configuration {
    var configuration = ImageCache.Configuration()
    configuration.system = system
    configuration.directory = folder
    configuration.requiresStorage = true
    return configuration
  }

  @Test(
    "names a file in the place of a cache's folder, and of any above it",
    arguments: ["", "a", "a/b"])
  func cacheFolder(below: String) async throws {
    let folder = file.appending(path: below)
    await #expect(throws: blocked) {
      try await ImageCache(formats: [.row], configuration: configuration(folder))
    }
    #expect(throws: blocked) {
      try ImageCache.open(formats: [.row], configuration: configuration(folder))
    }
    #expect(throws: blocked) { try ImageCache.knownNamespaces(in: folder) }
    await #expect(throws: blocked) { try await ImageCache.diskUsage(in: folder) }
    await #expect(throws: blocked) { try await ImageCache.removeEverything(in: folder) }
    await #expect(throws: blocked) {
      try await ImageCache.inspect(namespace: "default", in: folder)
    }
  }

  @Test("names a file in the place of a store's folder, and of a copy's")
  func originals() async throws {
    let store = OriginalStore(directory: file.appending(path: "store"), byteLimit: 1 << 20)
    await #expect(throws: blocked) { try await store.open() }
    #expect(store.storageState == .unavailable(reason: blocked.reason))

    let kept = OriginalStore(in: directory)
    await kept.keep(7)
    await #expect(throws: blocked) {
      try await kept.copyFile(of: "test:/7", to: file.appending(path: "copy.jpg"))
    }
    // Where the folder is missing, it is named.
    let missing = directory.url.path + "/missing"
    let text = "Cannot open the folder \(missing): \(String(cString: strerror(ENOENT)))."
    await #expect(throws: ImageCacheError.storageUnavailable(text)) {
      try await kept.copyFile(of: "test:/7", to: URL(filePath: missing + "/copy.jpg"))
    }
  }

  @Test("names the folder in which none can be made, also the first one of the path")
  func readOnly() async throws {
    let system = SystemCalls(observer: { call throws(SystemError) in
      if call.kind == .makeDirectory { throw SystemError(call: call.kind, code: EROFS) }
    })
    let top = "/missing-\(UUID())"
    for (there, folder) in [
      (directory.url.path, directory.url.appending(path: "a/b")),
      ("/", URL(filePath: top)), ("/", URL(filePath: top + "/a")),
    ] {
      let configuration = configuration(folder, system)
      let text = "Cannot make a folder in \(there): \(String(cString: strerror(EROFS)))."
      await #expect(throws: ImageCacheError.storageUnavailable(text)) {
        try await ImageCache(formats: [.row], configuration: configuration)
      }
    }
  }

  @Test("names the current folder of a path that begins there")
  func relative() {
    let error = SystemError(call: .makeDirectory, code: EROFS)
    let name = "missing-\(UUID())"
    for path in [name, name + "/", name + "/a", name + "/a/b"] {
      #expect(TableDirectory.failure(error, at: path, .live) == TableError(error, path: "."))
    }
  }

  @Test("names the table whose images are all in use")
  func allInUse() async throws {
    let format = ImageFormat(
      name: "one", size: .exact(PixelSize(width: 16, height: 8)), capacity: 1)
    let cache = try await ImageCache(
      formats: [format], configuration: configuration(directory.url))
    let image = try await cache.store(solid(3), for: Photo("a"), format: format)
    await #expect(
      throws: ImageCacheError.storageUnavailable(
        "Table \"one\": All images of the table are in use.")
    ) {
      try await cache.setMetadata(Data("b".utf8), for: Photo("a"), format: format)
    }
    withExtendedLifetime(image) {}
    await cache.close()
  }
}

extension ImageCacheError {
  fileprivate var reason: String {
    if case .storageUnavailable(let text) = self { text } else { "" }
  }
}
