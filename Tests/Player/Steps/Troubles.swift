import FastImageCache
import Foundation

extension Step {
  /// Calls of the system that fail for a while.
  static let troubles: [Step] = [
    Step("full volume", [], need: .entity(\.needsNoOptions), needsHost: true) { turn in
      try await turn.meetTrouble(isFull: true)
    },
    Step("read-only folder", [], need: .entity(\.needsNoOptions), needsHost: true) { turn in
      try await turn.meetTrouble(isFull: false)
    },
  ]
}

extension Turn {
  /// Works while no file can be changed, and sees that pictures stay right and that all works again afterwards.
  fileprivate func meetTrouble(isFull: Bool) async throws {
    guard let host, session.beginsAlone() else { return nothing() }
    defer { session.endAlone() }
    let fresh = FreshEntity(self)
    let mark = world.timeline.makeHand(of: 0)
    var isRemoved = false
    await session.troubling {
      // A store of originals that once met a read-only folder is given up until the process ends.
      let tables = session.plan.folder(in: world)
      let originals = Session.originalsFolder(in: world, session.plan.place)
      host.refuseChanges(beneath: (tables, isFull ? originals : tables), isFull: isFull)
      await tryWhileRefused { since in
        let image = try await cache.image(for: entity, format: format)
        see(image, since: since, "while calls fail")
      }
      await tryWhileRefused { _ in
        let image = try await cache.store(try mark.bitmap(), for: fresh, format: format)
        expect(Mark(image) == mark, .wrongPicture, "stored while calls fail")
      }
      await tryWhileRefused { since in
        var options = LoadOptions()
        options.cachePolicy = .reload
        let time = world.timeline.tick()
        let image = try await cache.image(for: entity, format: format, options: options)
        let isSteady = entity.subject.isSteady
        see(image, since: isSteady ? since.asking(at: time) : since, "reloaded while calls fail")
      }
      if chance(1, in: 2) {
        await tryWhileRefused { _ in
          let time = world.timeline.tick()
          try await cache.removeImages(for: entity)
          model.removeOriginals(ofEntity: entity, at: time)
          model.removeImages(of: entity, PlayFormats.all, at: time)
        }
        await tryWhileRefused { _ in
          try await cache.removeImages(for: fresh)
          isRemoved = true
        }
      }
      await tryWhileRefused { _ in _ = try await cache.refresh(entity) }
      await tryWhileRefused { _ in try await cache.flush() }
      lookEverywhere()
      // Removals that returned hold at once.
      if isRemoved { expectTable(fresh, nil, "removed while calls fail") }
      host.allowChanges()
      await waitForTables()
    }
    finds.count("troubles")
    if isRemoved { expectTable(fresh, nil, "removed while calls failed") }
    try await workAgain(fresh)
  }

  /// Runs one thing that the system may refuse.
  private func tryWhileRefused(_ body: (Model.Horizon) async throws -> Void) async {
    let since = horizon()
    do { try await call("a call while calls fail") { try await body(since) } } catch { note(error) }
  }

  /// After failures in a row a table lets some images pass, before it tries its file again.
  private func waitForTables() async {
    for format in PlayFormats.all {
      let entity = FreshEntity(self, "waiting in \(format.name)")
      for _ in 0..<1_100 {
        guard let bitmap = try? world.timeline.makeHand(of: 0).bitmap() else { return }
        let isStored = (try? await cache.store(bitmap, for: entity, format: format)) != nil
        let table = await cache.statistics().tables.first { $0.format == format.name }
        if isStored, table?.storageState == .ready { break }
      }
      try? await cache.removeImages(for: entity)
    }
  }

  /// Each call does again what it says.
  private func workAgain(_ fresh: FreshEntity) async throws {
    let again = FreshEntity(self, "again")
    let mark = world.timeline.makeHand(of: 0)
    _ = try await call("a store after calls failed") {
      try await cache.store(try mark.bitmap(), for: again, format: format)
    }
    expectTable(again, mark, "after calls failed")
    for table in await cache.statistics().tables {
      expect(
        table.storageState == .ready, "\(table.format) after calls failed: \(table.storageState)")
    }
    try await call("flush after calls failed") { try await cache.flush() }
    try await call("a removal after calls failed") { try await cache.removeImages(for: again) }
    try await call("a removal after calls failed") { try await cache.removeImages(for: fresh) }
    expectTable(again, nil, "removed after calls failed")
    expectTable(fresh, nil, "removed after calls failed")
  }
}
