import CommandSupport
import Foundation
import TestSupport

/// Attacks of other programs on a table's file while it is in use.
struct Sabotage {
  private static let names = [
    "deletions", "renamings", "files of garbage", "links", "pipes", "copies of itself",
  ]
  private static let targetBytes = Data("This file belongs to somebody else.".utf8)
  private static let prefix = "elsewhere-"

  private let folder: TableFolder
  private let target: String

  init(folder: TableFolder) throws {
    self.folder = folder
    target = folder.path + ".target"
    try Self.targetBytes.write(to: URL(fileURLWithPath: target))
  }

  /// True for a file that this put into the folder under another name.
  func isOurs(_ name: String) -> Bool { name.hasPrefix(Self.prefix) || name == "fresh" }

  var isTargetUntouched: Bool { FileManager.default.contents(atPath: target) == Self.targetBytes }

  /// Carries out one of them, and returns its name.
  func strike(using random: inout SplitMix64) throws -> String {
    let path = try folder.filePath
    let other = folder.path + "/" + Self.prefix + "0"
    let kind = Int.random(in: 0..<Self.names.count, using: &random)
    // The table's file may be missing at the moment, so that some of these come to nothing.
    switch kind {
    case 0: unlink(path)
    case 1: rename(path, other)
    case 2:
      let count = [0, 1, 512, 16_384, 70_000][Int.random(in: 0..<5, using: &random)]
      try folder.replaceFile(
        with: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    case 3:
      symlink(target, other)
      rename(other, path)
    case 4:
      mkfifo(other, 0o600)
      rename(other, path)
    default:
      // A copy of a file that is being written is partly old and partly new.
      guard let bytes = Self.contents(path) else { break }
      try folder.replaceFile(with: bytes)
    }
    return Self.names[kind]
  }

  /// A regular file's bytes; anything else under the name might not be readable to an end.
  private static func contents(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}
