import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import TableStore

@Suite("The known namespaces", .timeLimit(.minutes(10)))
struct NamespaceTests {
  private let directory: TemporaryDirectory
  private var configuration = ImageCache.Configuration()

  init() throws {
    directory = try TemporaryDirectory()
    configuration.directory = directory.url
  }

  private func open(
    _ namespace: String, _ formats: [ImageFormat] = [.row], system: SystemCalls = .live
  ) async throws {
    var configuration = configuration
    configuration.system = system
    let cache = try ImageCache.open(
      namespace: namespace, formats: formats, configuration: configuration)
    await cache.close()
  }

  private var known: [String] { get throws { try ImageCache.knownNamespaces(in: directory.url) } }

  private func folder(_ namespace: String) throws -> URL {
    directory.url.appending(path: try TableDirectory.safeName(for: namespace))
  }

  @Test("are those that were opened, by their whole names")
  func namesAll() async throws {
    #expect(try known.isEmpty)
    let long = String(repeating: "é", count: 127)
    for namespace in ["photos", "Photos", long, "photos"] { try await open(namespace) }
    #expect(try known == ["Photos", "photos", long].sorted())
    let nowhere = directory.url.appending(path: "nowhere")
    #expect(try ImageCache.knownNamespaces(in: nowhere).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: nowhere.path))
  }

  @Test("are gone when they are opened without formats, and their tables with them")
  func forgets() async throws {
    try await open("old")
    try await open("new")
    try await open("old", [])
    #expect(try known == ["new"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("old").path).isEmpty)
    try await open("old")
    #expect(try known == ["new", "old"])
  }

  @Test("stay as long as a cache has one of their tables open")
  func staysWhileOpen() async throws {
    let cache = try ImageCache.open(
      namespace: "old", formats: [.row], configuration: configuration)
    try await open("old", [])
    #expect(try known == ["old"])
    await cache.close()
  }

  @Test("go while an image is shown, once their cache is closed")
  func goesWithImageInUse() async throws {
    let cache = try ImageCache.open(
      namespace: "old", formats: [.row], configuration: configuration)
    let held = try await cache.store(solid(12), for: Photo("a"), format: .row)
    await cache.close()
    try await open("old", [])
    #expect(try known == [])
    #expect(held.solidNumber == 12)
  }

  @Test("leave out folders of others, copies, links, and names that are not whole")
  func leavesOutOthers() async throws {
    let files = FileManager.default
    for namespace in ["a", "b", "c", "d"] { try await open(namespace) }
    try files.createDirectory(
      at: directory.url.appending(path: "foreign"), withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: directory.url.appending(path: "file"))
    try files.copyItem(at: folder("a"), to: directory.url.appending(path: "copy"))
    try files.moveItem(at: folder("b"), to: directory.url.appending(path: "elsewhere"))
    try files.createSymbolicLink(
      at: folder("b"), withDestinationURL: directory.url.appending(path: "elsewhere"))
    let torn = try folder("c").appending(path: NamespaceFile.fileName)
    try Data(contentsOf: torn).dropLast(3).write(to: torn)
    let others = try folder("d").appending(path: NamespaceFile.fileName)
    try Data("mine".utf8).write(to: others)
    #expect(try known == ["a"])
    // A torn one is mended by the next opening, another's is neither written nor deleted.
    try await open("c")
    for formats in [[ImageFormat.row], []] { try await open("d", formats) }
    #expect(try known == ["a", "c"])
    #expect(try Data(contentsOf: others) == Data("mine".utf8))
  }

  @Test("cost an opening nothing where their file cannot be written")
  func opensWithout() async throws {
    let refused = Counter()
    let full = SystemCalls { call throws(SystemError) in
      // Only the name's file is written at that length.
      if call.kind == .write, call.bytes?.count == NamespaceFile.bytes(naming: "full").count {
        refused.increment()
        throw SystemError(call: .write, code: ENOSPC)
      }
    }
    try await open("full", system: full)
    #expect(refused.value == 1)
    #expect(try known.isEmpty)
    // The begun file is deleted like a whole one.
    try await open("full", [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("full").path).isEmpty)
  }

  @Test("are removed without the file of their name, and by a cancelled task, too")
  func removesUnnamed() async throws {
    try await open("old")
    try FileManager.default.removeItem(
      at: folder("old").appending(path: NamespaceFile.fileName))
    let removal = Task { [directory] in
      withUnsafeCurrentTask { $0?.cancel() }
      try await ImageCache.removeNamespace("old", in: directory.url)
    }
    try await removal.value
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("old").path).isEmpty)
  }

  @Test("are counted together and removed together, but for what a cache has open")
  func removesAll() async throws {
    #expect(try await ImageCache.diskUsage(in: directory.url) == 0)
    for namespace in ["a", "b"] {
      let cache = try ImageCache.open(
        namespace: namespace, formats: [.row], configuration: configuration)
      try await cache.store(solid(1), for: Photo(1), format: .row)
      await cache.close()
    }
    let open = try ImageCache.open(namespace: "c", formats: [.row], configuration: configuration)
    try await open.store(solid(1), for: Photo(1), format: .row)
    let sum = try await ImageCache.diskUsage(in: directory.url)
    try await ImageCache.removeEverything(in: directory.url)
    #expect(try known == ["c"])
    #expect(open.cachedImage(for: Photo(1), format: .row) != nil)
    let rest = try await ImageCache.diskUsage(in: directory.url)
    #expect(rest > 0 && rest < sum)
    await open.close()
    try await ImageCache.removeNamespace("another", in: directory.url)
    #expect(try known == ["c"])
    try await ImageCache.removeNamespace("c", in: directory.url)
    #expect(try known.isEmpty)
    #expect(try await ImageCache.diskUsage(in: directory.url) == 0)
  }
}
