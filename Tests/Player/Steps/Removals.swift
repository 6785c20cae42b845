import FastImageCache
import Foundation

extension Step {
  /// Removals of images.
  static let removals: [Step] = [
    Step("removeImage", ["ImageCache.removeImage(for:format:)"]) { turn in
      let time = turn.world.timeline.tick()
      if turn.plant != .lostRemoval {
        try await turn.call("removeImage") {
          if turn.chance(1, in: 2) {
            try await turn.cache.removeImage(for: turn.entity, format: turn.format)
          } else {
            try await turn.cache.removeImage(for: turn.entity.imageID, format: turn.format)
          }
        }
      }
      turn.model.removeImages(of: turn.entity, [turn.format], at: time)
      turn.lookEverywhere()
      let (entity, _, _) = try await turn.storeFresh()
      try await turn.call("removeImage of a fresh entity") {
        try await turn.cache.removeImage(for: entity, format: turn.format)
      }
      turn.expectTable(entity, nil, "removed from one format")
    },

    Step("removeImages", ["ImageCache.removeImages(for:)"], weight: 2) { turn in
      let time = turn.world.timeline.tick()
      if turn.plant != .lostRemoval {
        try await turn.call("removeImages") {
          if turn.chance(1, in: 2) {
            try await turn.cache.removeImages(for: turn.entity)
          } else {
            try await turn.cache.removeImages(for: turn.entity.imageID)
          }
        }
      }
      if !turn.isTroubled { turn.model.removeOriginals(ofEntity: turn.entity, at: time) }
      turn.model.removeImages(of: turn.entity, PlayFormats.all, at: time)
      turn.lookEverywhere()
      let (entity, _, _) = try await turn.storeFresh()
      try await turn.call("removeImages of a fresh entity") {
        try await turn.cache.removeImages(for: entity)
      }
      turn.expectTable(entity, nil, "removed")
    },

    Step("removeImages where", ["ImageCache.removeImages(in:where:)"]) { turn in
      let time = turn.world.timeline.tick()
      let id = turn.entity.imageID
      let format = turn.chance(1, in: 2) ? turn.format : nil
      let count = try await turn.call("removeImages(in:where:)") {
        try await turn.cache.removeImages(in: format) { $0.isImage(of: id) }
      }
      turn.expect(count <= 4 * PlayFormats.all.count, .wrongCount, "\(count) were removed")
      turn.model.removeImages(of: turn.entity, format.map { [$0] } ?? PlayFormats.all, at: time)
      turn.lookEverywhere()
      let (entity, _, _) = try await turn.storeFresh()
      let removed = try await turn.call("removeImages of a fresh entity by a condition") {
        try await turn.cache.removeImages { $0.isImage(of: entity.imageID) }
      }
      turn.expect(
        removed >= 1 || PlayFormats.fleeting.contains(turn.format) || !turn.isCalm, .wrongCount,
        "\(removed) of \(entity)")
      turn.expectTable(entity, nil, "removed by a condition")
    },

    Step("removeAllImages in a format", ["ImageCache.removeAllImages(in:)"], need: .cache) { turn in
      let (entity, _, _) = try await turn.storeFresh()
      let time = turn.world.timeline.tick()
      try await turn.session.sweeping {
        try await turn.call("removeAllImages(in:)") {
          try await turn.cache.removeAllImages(in: turn.format)
        }
      }
      turn.expectTable(entity, nil, "removed with its format's")
      turn.model.removeAllImages([turn.format], at: time)
      turn.lookEverywhere()
    },

    Step("removeAllImages", ["ImageCache.removeAllImages()"], need: .cache) { turn in
      let (entity, _, _) = try await turn.storeFresh()
      let time = turn.world.timeline.tick()
      try await turn.session.sweeping {
        try await turn.call("removeAllImages()") { try await turn.cache.removeAllImages() }
      }
      turn.expectTable(entity, nil, "removed with all")
      turn.model.removeAllImages(PlayFormats.all, at: time)
      turn.lookEverywhere()
    },

    // The recipe of a namespace for each account.
    Step(
      "sign out of a namespace", [], need: .cache, needsOriginals: true, isOnDisk: true
    ) { turn in
      guard let store = turn.session.originals else { return }
      let (entity, account) = (FreshEntity(turn), AccountID("own\(turn.number)"))
      let namespace = "account-\(turn.number)"
      var configuration = Session.configuration(turn.session.plan, in: turn.world)
      configuration.originals = store
      configuration.source = URLImageSource(
        http: .played(resumes: true, patience: turn.world.sourcePatience))
      let cache = try await ImageCache(
        namespace: namespace, formats: [turn.format], configuration: configuration)
      for account in [nil, account] {
        var options = LoadOptions()
        options.account = account
        options.cachePolicy = .reload
        do {
          let image = try await turn.call("a request in a namespace of its own") {
            try await cache.image(for: entity, format: turn.format, options: options)
          }
          turn.expect(
            Mark(image)?.subject == entity.subject.number, .wrongPicture, "\(entity)")
        } catch { turn.note(error, options) }
      }
      let folder = turn.session.plan.folder(in: turn.world)
      try await turn.call("a sign-out of a namespace") {
        await cache.close()
        try await ImageCache.removeNamespace(namespace, in: folder)
        try await store.removeAll(for: account)
        try await store.removeAll(in: namespace)
        try await store.flush()
      }
      turn.expect(
        try !ImageCache.knownNamespaces(in: folder).contains(namespace), .leftover, namespace)
      let left = try await turn.call("inspect") { try await store.inspect() }
        .filter { $0.namespace == namespace }
      turn.expect(left.isEmpty, .leftover, "\(left.count) originals of \(namespace)")
    },

    Step(
      "sign out",
      ["OriginalStore.removeAll(for:)", "AccountID.init(_:)"], weight: 3,
      need: .entity { $0.account > 0 },
      needsOriginals: true
    ) { turn in
      // What the account has is from before a change, so that it tells itself.
      _ = try? await turn.call("a request before a sign-out") {
        try await turn.cache.image(
          for: turn.entity, format: turn.format,
          options: turn.options(isPlain: true, policy: .reload))
      }
      try turn.world.change(turn.entity.subject)
      // The recipe: the account's originals, of which images would be drawn again, and images of its entities.
      let time = turn.world.timeline.tick()
      let account = turn.entity.account
      if let id = turn.entity.accountID, turn.plant != .lostSignOut {
        try await turn.call("removeAll(for:)") {
          try await turn.session.originals?.removeAll(for: id)
        }
      }
      if !turn.isTroubled { turn.model.removeOriginals(ofAccount: account, at: time) }
      let all = PlayEntity.all(in: turn.world).filter { $0.account == account }
      for entity in all.map(turn.model.present) {
        // Not `removeImages(for:)`, by which the entity's originals would go as well.
        for format in PlayFormats.all {
          try await turn.call("removeImage of an account") {
            try await turn.cache.removeImage(for: entity.imageID, format: format)
          }
        }
        turn.model.removeImages(of: entity, PlayFormats.all, at: time)
      }
      var options = turn.options(isPlain: true, policy: .useCache)
      options.account = turn.entity.accountID
      let horizon = turn.horizon()
      do {
        let image = try await turn.call("a request after a sign-out") {
          try await turn.cache.image(for: turn.entity, format: turn.format, options: options)
        }
        turn.see(image, since: horizon, "after a sign-out")
      } catch { turn.note(error, options) }
    },
  ]
}
