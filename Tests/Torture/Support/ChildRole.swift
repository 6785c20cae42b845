import CommandSupport
import Foundation

/// The work of this program as its own child.
enum ChildRole {
  /// The first argument of a child; no method is called like this.
  static let word = "child"

  static func run(_ words: [String]) async -> Int32 {
    guard words.count >= 2 else { return ExitStatus.usage.rawValue }
    // The method waits for its children: one that hangs, or whose method was killed, ends by a signal.
    alarm(600)
    let numbers = words.dropFirst(2).compactMap { Int($0) }
    let path = words[1]
    do {
      switch (words[0], numbers.count) {
      case ("script", 3): return try KillScript(path: path, numbers: numbers).run()
      case ("mix", 1): return try KillMix(path: path, seed: numbers[0]).run()
      case ("crowd", 2): return try CrowdMember(path: path, numbers: numbers).run()
      case ("owner", 2): return try TableOwner(path: path, numbers: numbers).run()
      case ("guest", 1): return try TableGuest(path: path, seed: numbers[0]).run()
      case ("worker", 4): return try ServerWorker(path: path, numbers: numbers).run()
      case ("frames", 2): return try await FrameWorker(path: path, numbers: numbers).run()
      case ("planted", 3): return try await PlantedWalk(path: path, numbers: numbers).run()
      case ("neighbour", 2):
        let folder = words.last ?? ""
        return try await NeighbourChild(path: path, numbers: numbers, folder: folder).run()
      case ("limit", 1): return try await LimitedWork(path: path, limit: numbers[0]).run()
      case ("originals", 4):
        var worker = try OriginalWorker(path: path, numbers: numbers)
        return try await worker.run()
      default: return ExitStatus.usage.rawValue
      }
    } catch {
      Console.note("child \(words.joined(separator: " ")): \(error)")
      return ChildVerdict.failed
    }
  }
}
