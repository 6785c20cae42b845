import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation
import OriginalStore
import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A store's folder full of originals that have equal bytes and different addresses, and plain files
/// beside them, which the store leaves alone.
final class KeptFiles: Sendable {
  /// The addresses of the originals, in a random order.
  let addresses: [URL]
  /// The bytes of each.
  let content: Data

  private let name: String
  private let place: URL
  private let budget = OriginalBudget(byteCount: 1 << 40)
  private let shelf: OriginalShelf
  private let descriptor: CInt

  /// Keeps originals, which takes some 0.1 ms each, and uses each once. So their records stand in another
  /// order than that of their uses, as they do after some time.
  static func filled(
    _ name: String, count: Int, byteCount: Int, setting: BenchSetting
  ) async throws -> KeptFiles {
    let addresses = addresses("kept", count: count)
    let content = content(byteCount)
    let place = setting.place.url.appending(path: "originals")
    // A shelf writes uses when it goes.
    let first = try KeptFiles(name, addresses.shuffled(), content, in: place)
    _ = try await first.keep(addresses, content)
    try first.read(0..<count)
    let kept = try KeptFiles(name, addresses.shuffled(), content, in: place)
    let shelf = kept.shelf
    try await kept.budget.run { Result { try shelf.open() } }.get()
    return kept
  }

  private init(_ name: String, _ addresses: [URL], _ content: Data, in place: URL) throws {
    (self.name, self.addresses, self.content, self.place) = (name, addresses, content, place)
    let path = Self.store(name, in: place).directory.path(percentEncoded: false)
    shelf = OriginalShelf(OriginalShelf.Settings(path: path), budget: budget)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw BenchFailure(description: "\"\(path)\" cannot be opened: \(errno).")
    }
  }

  deinit { close(descriptor) }

  /// A store of its own on the folder.
  func makeStore() -> SourceStore { Self.store(name, in: place) }

  private static func store(_ name: String, in place: URL) -> SourceStore {
    SourceStore(name: name, directory: place, budget: StorageBudget(byteCount: 1 << 40))
  }

  static func addresses(_ word: String, count: Int) -> [URL] {
    (0..<count).compactMap { URL(string: "https://photos.example.com/\(word)/\($0).jpg") }
  }

  /// Bytes that do not compress.
  static func content(_ byteCount: Int) -> Data {
    var numbers = SeededNumbers(seed: UInt64(byteCount))
    var content = Data(capacity: byteCount + 8)
    while content.count < byteCount {
      withUnsafeBytes(of: numbers.next()) { content.append(contentsOf: $0) }
    }
    return content.prefix(byteCount)
  }

  // MARK: Originals

  /// Reads and proves the originals of a part of the addresses.
  func read(_ range: Range<Int>) throws {
    for address in addresses[range] {
      guard try shelf.read(Self.key(address))?.bytes.count == content.count else {
        throw BenchFailure.missingOriginal
      }
    }
  }

  /// Keeps originals until their files can be read, on the store's own lane; nanoseconds for each.
  func keep(_ addresses: [URL], _ content: Data) async throws -> Double {
    let shelf = shelf
    return try await onLane {
      let nanoseconds = try Contest.time(addresses.count) {
        for address in addresses {
          let key = Self.key(address)
          guard shelf.hold(content, key, Self.facts(address), Self.freshness, if: { true }) else {
            throw BenchFailure.missingOriginal
          }
          shelf.write(key)
        }
      }
      guard addresses.allSatisfy({ shelf.look(Self.key($0)) != nil }) else {
        throw BenchFailure.missingOriginal
      }
      return nanoseconds
    }
  }

  func remove(_ addresses: [URL]) async throws {
    let shelf = shelf
    try await onLane { for address in addresses { try shelf.remove(Self.key(address)) } }
  }

  private static let freshness = RecordedFreshness(answered: 1_700_000_000, freshFor: 86_400)

  private static func key(_ address: URL) -> OriginalKey {
    OriginalKey(ImageID(address).tableID, audience: "")
  }

  /// With as many bytes of terms as a server's head comes to.
  private static func facts(_ address: URL) -> OriginalFacts {
    OriginalFacts(
      entity: ImageID(address).tableID, width: 1600, height: 1200,
      terms: [UInt8](repeating: 7, count: 150), stored: Int64(Date().timeIntervalSince1970))
  }

  // MARK: Plain files

  /// Reads plain files, which have the names of their numbers.
  ///
  /// - Parameter hashes: Whether a hash of each byte is taken: no store that proves its bytes can do less.
  func readPlain(_ range: Range<Int>, hashes: Bool = false) throws {
    for number in range {
      guard bench_read_file(descriptor, "\(number).plain", content.count, hashes) == 0 else {
        throw BenchFailure.missingOriginal
      }
    }
  }

  /// Writes plain files on the store's lane; nanoseconds for each.
  func writePlain(_ range: Range<Int>, _ content: Data) async throws -> Double {
    let descriptor = descriptor
    return try await onLane {
      try Contest.time(range.count) {
        for number in range {
          let isWritten = content.withUnsafeBytes {
            bench_write_file(descriptor, "\(number).plain", $0.baseAddress, $0.count) == 0
          }
          guard isWritten else {
            throw BenchFailure(description: "A plain file cannot be written: \(errno).")
          }
        }
      }
    }
  }

  func removePlain(_ range: Range<Int>) {
    for number in range { unlinkat(descriptor, "\(number).plain", 0) }
  }

  private func onLane<Value: Sendable>(
    _ job: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await budget.run { Result { try job() } }.get()
  }
}
