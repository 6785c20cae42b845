import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("A file source", .timeLimit(.minutes(10)))
struct FileImageSourceTests {
  private static let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  private let directory: TemporaryDirectory
  private let content = Self.content

  init() throws {
    directory = try TemporaryDirectory()
  }

  #if !canImport(Darwin)
    /// Each beside a file whose name it becomes when it is repaired, or taken for text. Apple's file systems
    /// have no names that are not UTF-8.
    private static let bytesOfNames: [[UInt8]] = [
      [0x63, 0xE9], [0x63, 0xE8], Array("c\u{FFFD}".utf8), [0xFF], [0x61, 0xC3], [0x61],
      Array("\u{FEFF}a".utf8), Array("\u{FEFF}".utf8), Array("%41".utf8), Array("A".utf8),
      Array("%FF".utf8), Array("%25FF".utf8),
    ]

    @Test("opens the file whose bytes a URL names, and no other", arguments: bytesOfNames)
    func opensNamed(name: [UInt8]) async throws {
      let folder = try LocalPath(directory.url)
      for name in Self.bytesOfNames {
        let file = open(folder.appending(name).characters, O_WRONLY | O_CREAT, 0o600)
        #expect(write(file, name, name.count) == name.count)
        close(file)
      }
      let path = folder.appending(name)
      #expect(try LocalPath(path.url) == path)
      #expect(try await bytes(path.url) == Data(name))
      let reference = try #require(
        URL(string: LocalPath(name).percentEncoded, relativeTo: folder.appending([]).url))
      #expect(try await bytes(reference) == Data(name))
      if let text = String(validating: name, as: UTF8.self) {
        #expect(try await bytes(directory.url.appendingPathComponent(text)) == Data(name))
      }
    }
  #endif

  @Test(
    "opens names with spaces, percent signs and letters of any script",
    arguments: ["a b.jpg", "100%.jpg", "%20.jpg", "写真 été.jpg", "a?b#c.jpg"])
  func names(_ name: String) async throws {
    #expect(try await bytes(try file(name, content)) == content)
  }

  @Test("follows a symbolic link")
  func link() async throws {
    let target = try file("target", content)
    let link = directory.url.appendingPathComponent("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    #expect(try await bytes(link) == content)
  }

  @Test("reports each chunk and the size, up to the end")
  func progress() async throws {
    let reports = Lock<[ImageSourceProgress]>([])
    _ = try await bytes(try file("a", content)) { report in reports.withLock { $0.append(report) } }
    let counts = reports.withLock { $0.map(\.receivedByteCount) }
    #expect(counts.count > 1)
    #expect(counts == counts.sorted())
    #expect(counts.last == content.count)
    #expect(reports.withLock { $0.allSatisfy { $0.expectedByteCount == content.count } })
  }

  @Test("names a file that is not there")
  func notFound() async throws {
    let url = directory.url.appendingPathComponent("nothing.jpg")
    await #expect(throws: ImageSourceError.notFound(path: url.path)) { try await bytes(url) }
    let below = try file("a", content).appendingPathComponent("b")
    await #expect(throws: ImageSourceError.notFound(path: below.path)) { try await bytes(below) }
  }

  @Test("names a directory, a FIFO without a writer, a device and a circle of links, and says why")
  func otherKinds() async throws {
    await expectUnreadable(directory.url, because: "directory")
    let fifo = directory.url.appendingPathComponent("fifo")
    #expect(mkfifo(fifo.path, 0o600) == 0)
    await expectUnreadable(fifo, because: "regular")
    await expectUnreadable(URL(fileURLWithPath: "/dev/zero"), because: "regular")
    let circle = directory.url.appendingPathComponent("circle")
    try FileManager.default.createSymbolicLink(at: circle, withDestinationURL: circle)
    await expectUnreadable(circle, because: "symbolic links")
  }

  @Test("refuses a path with a NUL character, which would name another file")
  func nul() async throws {
    let url = try #require(URL(string: try file("a", content).absoluteString + "%00.jpg"))
    await #expect(throws: ImageSourceError.self) { try await bytes(url) }
  }

  @Test("refuses files of other hosts")
  func otherHost() async throws {
    await expectUnreadable(
      try #require(URL(string: "file://example.com/a.jpg")), because: "example.com")
    let here = try file("a", content).path
    let url = try #require(URL(string: "file://localhost\(here)"))
    #expect(try await bytes(url) == content)
  }

  @Test("takes a file of exactly the limit and refuses one byte more, and an empty one is no bytes")
  func limit() async throws {
    let url = try file("a", content)
    #expect(try await bytes(url, limit: content.count) == content)
    let limit = content.count - 1
    await #expect(throws: ImageSourceError.tooLarge(byteCountLimit: limit)) {
      try await bytes(url, limit: limit)
    }
    #expect(try await bytes(try file("empty", Data())) == Data())
  }

  @Test("takes no memory for a file above the limit")
  func hugeFile() async throws {
    let url = try file("huge", Data())
    #expect(truncate(url.path, 1 << 40) == 0)
    await #expect(throws: ImageSourceError.tooLarge(byteCountLimit: 1000)) {
      try await bytes(url, limit: 1000)
    }
  }

  @Test("reports a file that shrinks, grows or is rewritten while it is read")
  func changed() async throws {
    for size in [0, 300_000, 699_999, 700_001] as [off_t] {
      let url = try file("a", content)
      await expectUnreadable(url, because: "changed") { truncate(url.path, size) }
    }
    let url = try file("a", content)
    // The same size, and a time that no clock's resolution can hide.
    await expectUnreadable(url, because: "changed") {
      var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
      return utimes(url.path, &times)
    }
  }

  @Test("stops between two chunks when its task is cancelled")
  func cancelled() async throws {
    let url = try file("a", content)
    let gate = Gate()
    let chunks = Counter()
    let canceller = Lock<(@Sendable () -> Void)?>(nil)
    let task = Task {
      await gate.pass()
      return try await bytes(url) { _ in
        chunks.increment()
        canceller.withLock { $0 }?()
      }
    }
    canceller.withLock { $0 = { task.cancel() } }
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(chunks.value == 1)
  }

  @Test("leaves no descriptor open, however a read ends")
  func descriptors() async throws {
    let url = try file("a", content)
    let source = URLImageSource()
    // Descriptors are given lowest first, so one that leaks moves the next one up.
    func lowestFree() -> CInt {
      let descriptor = open("/dev/null", O_RDONLY)
      close(descriptor)
      return descriptor
    }
    _ = try await bytes(url, from: source)
    let before = lowestFree()
    for _ in 0..<300 {
      _ = try await bytes(url, from: source)
      _ = try? await bytes(url, from: source, limit: 1)
      _ = try? await bytes(directory.url, from: source)
    }
    // Other tests run beside this one and hold a few of their own.
    #expect(lowestFree() < before + 200)
  }

  private func file(_ name: String, _ content: Data) throws -> URL {
    let url = directory.url.appendingPathComponent(name)
    try content.write(to: url)
    return url
  }

  /// Expects the read to fail for a reason that says `part`, after `change` at the first chunk.
  private func expectUnreadable(
    _ url: URL, because part: String, change: @escaping @Sendable () -> CInt = { 0 }
  ) async {
    let isChanged = Lock(false)
    do {
      _ = try await bytes(url) { _ in
        isChanged.withLock { isChanged in
          if !isChanged { #expect(change() == 0) }
          isChanged = true
        }
      }
      Issue.record("It was read.")
    } catch ImageSourceError.unreadable(let path, let reason) {
      #expect(path == url.path)
      #expect(reason.contains(part))
    } catch {
      Issue.record(error)
    }
  }
}
