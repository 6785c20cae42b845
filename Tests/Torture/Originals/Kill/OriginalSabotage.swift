import CommandSupport
import Foundation
import OriginalStore
import TestSupport

/// Attacks of other programs on a folder of originals between two sessions.
struct OriginalSabotage {
  /// What is gone by it.
  enum Loss {
    case nothing, everything
    case original(Int)
  }

  private static let targetBytes = Data("This file belongs to somebody else.".utf8)

  private let folder: OriginalsFolder
  private let target: String

  init(folder: OriginalsFolder) throws {
    self.folder = folder
    target = folder.path + ".target"
    try Self.targetBytes.write(to: URL(fileURLWithPath: target))
  }

  var isTargetUntouched: Bool { FileManager.default.contents(atPath: target) == Self.targetBytes }

  /// Carries out one of them.
  func strike(using random: inout SplitMix64) -> (name: String, loss: Loss) {
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      try? FileManager.default.removeItem(atPath: folder.path)
      return ("folders deleted", .everything)
    case 1..<6:
      let index = folder.path + "/originals.index"
      guard let bytes = FileManager.default.contents(atPath: index) else { break }
      let garbage = Data(bytes.map { _ in UInt8.random(in: .min ... .max, using: &random) })
      let cut = bytes.prefix(Int.random(in: 0...bytes.count, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: put(cut, index)
      case 1: put(Data(count: bytes.count), index)
      case 2: put(garbage, index)
      case 3: put(bytes.prefix(128) + garbage.dropFirst(128), index)
      default: replaceByStranger(index, using: &random)
      }
      return ("indexes damaged", .nothing)
    default:
      let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
      let path = folder.path + "/" + OriginalCatalogue.key(number).digest.fileName
      guard access(path, F_OK) == 0 else { break }
      replaceByStranger(path, using: &random)
      return ("strangers under a name", .original(number))
    }
    return ("attacks on nothing", .nothing)
  }

  private func put(_ bytes: Data, _ path: String, mode: Int = 0o600) {
    unlink(path)
    _ = FileManager.default.createFile(
      atPath: path, contents: bytes, attributes: [.posixPermissions: mode])
  }

  /// A link, a pipe, or a file that others may read.
  private func replaceByStranger(_ path: String, using random: inout SplitMix64) {
    unlink(path)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: symlink(target, path)
    case 1: mkfifo(path, 0o600)
    default: put(Self.targetBytes, path, mode: 0o644)
    }
  }
}
