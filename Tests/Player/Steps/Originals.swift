import FastImageCache
import Foundation

extension Step {
  /// The store of originals, by its own calls.
  static let originals: [Step] = [
    Step(
      "bytes",
      ["OriginalStore.bytes(of:for:)", "OriginalStore.copyFile(of:for:to:)"],
      need: .entity { $0.subject.scheme != .own }, needsOriginals: true
    ) { turn in
      guard let store = turn.session.originals else { return }
      let (entity, horizon) = (turn.entity, turn.horizon().ofOriginals)
      let id = entity.originalID(for: turn.format)
      let bytes = try await turn.call("bytes") {
        try await store.bytes(of: id, for: entity.accountID)
      }
      if let bytes { turn.seeOriginal(bytes, since: horizon, "bytes") }
      let file = turn.world.folder.appending(path: "copy \(turn.number)")
      defer { try? FileManager.default.removeItem(at: file) }
      let second = turn.horizon().ofOriginals
      let isCopied = try await turn.call("copyFile") {
        try await store.copyFile(of: id, for: entity.accountID, to: file)
      }
      turn.expect(isCopied == FileManager.default.fileExists(atPath: file.path), "no copy")
      if isCopied { turn.seeOriginal(try Data(contentsOf: file), since: second, "a copy") }
    },

    Step(
      "remove an original", ["OriginalStore.remove(_:for:)"],
      need: .entity { $0.subject.scheme != .own }, needsOriginals: true
    ) { turn in
      guard let store = turn.session.originals else { return }
      let (time, entity) = (turn.world.timeline.tick(), turn.entity)
      try await turn.call("OriginalStore.remove") {
        try await store.remove(entity.originalID(for: turn.format), for: entity.accountID)
      }
      if !turn.isTroubled { turn.model.removeOriginals(ofEntity: entity, at: time) }
      let horizon = turn.horizon().ofOriginals
      let bytes = try await turn.call("bytes after a removal") {
        try await store.bytes(of: entity.originalID(for: turn.format), for: entity.accountID)
      }
      if let bytes { turn.seeOriginal(bytes, since: horizon, "after a removal") }
      let fresh = try await turn.storeFreshOriginal()
      let freshID = fresh.originalID(for: turn.format)
      let left = try await turn.call("removal of a fresh original") {
        try await store.remove(freshID, for: nil)
        return try await store.bytes(of: freshID)
      }
      turn.expect(left == nil, .leftover, "a removed original of \(fresh)")
    },

    Step(
      "remove an entity's originals", ["OriginalStore.removeAll(of:in:)"], needsOriginals: true
    ) { turn in
      guard let store = turn.session.originals else { return }
      let time = turn.world.timeline.tick()
      try await turn.call("removeAll(of:in:)") {
        try await store.removeAll(of: turn.entity.imageID, in: turn.cache.namespace)
      }
      if !turn.isTroubled { turn.model.removeOriginals(ofEntity: turn.entity, at: time) }
      let horizon = turn.horizon().ofOriginals
      let bytes = try await turn.call("bytes after a removal") {
        try await store.bytes(
          of: turn.entity.originalID(for: turn.format), for: turn.entity.accountID)
      }
      if let bytes { turn.seeOriginal(bytes, since: horizon, "after a removal") }
      let fresh = try await turn.storeFreshOriginal()
      let left = try await turn.call("removal of a fresh entity's originals") {
        try await store.removeAll(of: fresh.imageID, in: turn.cache.namespace)
        return try await store.bytes(of: fresh.originalID(for: turn.format))
      }
      turn.expect(left == nil, .leftover, "an original of \(fresh), which has none")
    },

    Step(
      "remove all originals", ["OriginalStore.removeAll(in:)"], need: .cache, needsOriginals: true
    ) { turn in
      guard let store = turn.session.originals else { return }
      let time = turn.world.timeline.tick()
      try await turn.call("removeAll()") {
        try await store.removeAll(in: turn.chance(1, in: 2) ? nil : turn.cache.namespace)
      }
      if !turn.isTroubled { turn.model.removeAllOriginals(at: time) }
      let kept = try await turn.call("inspect of originals") { try await store.inspect() }
      let sum = kept.reduce(0) { $0 + $1.byteCount }
      turn.expect(sum <= store.byteLimit, .wrongCount, "\(sum) bytes")
    },

    Step(
      "inspect originals",
      [
        "OriginalStore.inspect()", "OriginalStore.inspect(directory:)", "OriginalStore.flush()",
        "OriginalStore.open()",
      ], need: .cache, needsOriginals: true
    ) { turn in
      guard let store = turn.session.originals else { return }
      try await turn.call("open") { try await store.open() }
      try await turn.call("flush") { try await store.flush() }
      let own = try await turn.call("inspect") { try await store.inspect() }
      let sum = own.reduce(0) { $0 + $1.byteCount }
      turn.expect(sum <= store.byteLimit, .wrongCount, "\(sum) bytes")
      let others = try await turn.call("inspect(directory:)") {
        try await OriginalStore.inspect(directory: store.directory)
      }
      turn.expect(
        others.allSatisfy {
          $0.namespace == turn.cache.namespace || $0.namespace.hasPrefix("account-")
        }, "\(others.map(\.namespace))")
    },
  ]
}

extension Turn {
  /// Stores a file for an entity that no other step knows, and compares the original that may be kept of it.
  func storeFreshOriginal() async throws -> FreshEntity {
    let (entity, mark) = (FreshEntity(self), world.timeline.makeHand(of: 0))
    let data = try world.files.data(of: mark, .png)
    _ = try await call("store of a fresh original") {
      try await cache.store(data, for: entity, format: format)
    }
    let bytes = try await call("bytes of a fresh original") {
      try await session.originals?.bytes(of: entity.originalID(for: format))
    }
    expect(bytes == nil || bytes == data, .wrongPicture, "\(bytes?.count ?? 0) bytes of \(mark)")
    return entity
  }

  /// Compares a kept original's bytes with what may be kept.
  fileprivate func seeOriginal(
    _ bytes: Data, since horizon: Model.Horizon, _ context: String
  ) {
    finds.count("originals compared")
    let mark = (try? Bitmap(decoding: bytes)).flatMap { Mark($0) }
    let objection = model.objection(to: mark, of: entity, since: horizon)
    expect(objection == nil, .wrongPicture, "\(objection ?? "") \(context)")
  }
}
