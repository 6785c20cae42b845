import Foundation
import TableStore
import Testing

@testable import OriginalStore

/// A change of a folder, or a use of it, in which a call may fail.
///
/// Each begins with a folder where original 1 is kept in version 1, original 2 has a partial of two
/// blocks, the index has a record, and a kill left three files.
enum FolderStep: String, CaseIterable, Sendable {
  case read, keep, replace, remove, own, note, sweep, begin, beginAnew, append, finish
  case openPartial, removePartial, synchronize

  static let leftovers = [
    "new-00000000000000aa", originalKey(8).digest.fileName + ".part",
    originalKey(9).digest.fileName + ".terms",
  ]

  static func prepare(_ originals: Originals) throws {
    _ = try originals.open()
    for (name, bytes) in try prepared.get() { try originals.put(bytes, name) }
  }

  /// The files of that folder, made once.
  private static let prepared: Result<[String: [UInt8]], any Error> = Result {
    let originals = try Originals()
    let folder = try originals.open()
    try folder.keep(1, 1)
    _ = try folder.keepBlocks(2, 1, count: 2)
    try folder.ownIndex()?.write(record(1), at: 0)
    for name in leftovers { try originals.put([1, 2, 3], name) }
    return Dictionary(
      uniqueKeysWithValues: try originals.names.map { ($0, try originals.bytes($0)) })
  }

  /// Opens the folder and does the step.
  func perform(_ originals: Originals, _ system: SystemCalls) throws {
    let folder = try originals.open(system)
    switch self {
    case .read: #expect(try folder.version(1) == 1)
    case .keep: try folder.keep(3, 1)
    case .replace: try folder.keep(1, 3)
    case .remove: try folder.remove(originalKey(1).digest)
    case .own: _ = try folder.ownIndex()
    case .note:
      let index = try folder.ownIndex()
      try index?.write(record(1, 3), at: 0)
      try index?.write(record(2), at: 1)
      try index?.clear(0)
    case .sweep: _ = try folder.sweep()
    case .begin: _ = try folder.beginPartial(originalKey(3), facts(3, 1))
    case .beginAnew:
      try folder.beginPartial(originalKey(2), facts(2, 3)).append(block(2, 3, 0), at: 0)
    case .append: try folder.openPartial(originalKey(2))?.file.append(block(2, 1, 2), at: 2)
    case .finish:
      _ = try folder.openPartial(originalKey(2))?.file.finish(
        content(2, 1, byteCount: longByteCount), blockCount: 2, facts(2, 1))
    case .openPartial: _ = try folder.openPartial(originalKey(2))
    case .removePartial: try folder.removePartial(originalKey(2).digest)
    case .synchronize: try folder.synchronize()
    }
  }

  /// Whatever happened in the step: what is found is right, and what had returned is there.
  func check(_ originals: Originals, isDone: Bool, _ comment: Comment) throws {
    let folder = try originals.open()
    // What a kill left needs no sweep to be harmless.
    try checkContent(folder, isDone, comment)
    let index = try #require(try folder.ownIndex(), comment)
    let records = index.records.map(\.record)
    let known = [record(1), record(1, 3), record(2)]
    #expect(records.allSatisfy(known.contains), comment)
    if self == .note {
      if isDone { #expect(records == [record(2)], comment) }
    } else {
      #expect(records == [record(1)], comment)
    }
    let swept = try folder.sweep()
    #expect(!swept.contains { $0.kind == .foreign }, comment)
    let names = try originals.names
    #expect(names.allSatisfy { !$0.hasPrefix("new-") }, comment)
    #expect(
      names.count { $0.hasSuffix(".part") } == names.count { $0.hasSuffix(".terms") }, comment)
    #expect(Set(names).isDisjoint(with: Self.leftovers), comment)
    try checkContent(folder, isDone, comment)
    // And the folder is as good as new.
    try folder.keep(1, 5)
    #expect(try folder.version(1) == 5, comment)
    _ = try folder.keepBlocks(2, 5, count: 1)
    #expect(try folder.openPartial(originalKey(2))?.facts == facts(2, 5), comment)
    try index.write(record(5), at: 7)
  }

  private func checkContent(_ folder: OriginalFolder, _ isDone: Bool, _ comment: Comment) throws {
    let first = try folder.version(1)
    switch self {
    case .replace: #expect(isDone ? first == 3 : [1, 3].contains(first), comment)
    case .remove: #expect(isDone ? first == nil : [1, nil].contains(first), comment)
    default: #expect(first == 1, comment)
    }
    let third = try folder.version(3)
    #expect(self == .keep && isDone ? third == 1 : [1, nil].contains(third), comment)
    let second = try folder.version(2, byteCount: longByteCount)
    #expect(self == .finish && isDone ? second == 1 : [1, nil].contains(second), comment)
    let partial = try folder.openPartial(originalKey(2))
    let counts: [Int?] =
      switch (self, isDone) {
      case (.append, true): [3]
      case (.append, false): [2, 3]
      case (.removePartial, true), (.finish, true): [nil]
      case (.removePartial, false), (.finish, false): second == nil ? [2, nil] : [nil]
      case (.beginAnew, true): [1]
      case (.beginAnew, false): [2, 1, nil]
      default: [2]
      }
    #expect(counts.contains(partial?.blockCount), comment)
    guard let partial else { return }
    let version = Int(partial.facts.width)
    #expect(partial.facts == facts(2, version), comment)
    #expect(
      partial.content
        == content(2, version, byteCount: longByteCount).prefix(partial.content.count), comment)
  }
}
