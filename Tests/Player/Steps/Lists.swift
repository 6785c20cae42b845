import FastImageCache
import Foundation

extension Step {
  /// Requests of many images.
  static let lists: [Step] = [
    Step(
      "images",
      [
        "ImageCache.images(for:format:options:)", "ImageResults.makeAsyncIterator()",
        "ImageResults.Iterator.next(isolation:)",
      ]
    ) { turn in
      let entities = turn.neighbours
      let options = turn.options(isPlain: true, policy: .useCache).shared
      let horizons = entities.map { turn.horizon(of: $0) }
      let patience = turn.chance(1, in: 3) ? 2 : Int.max
      var seen: Set<Int> = []
      await turn.call("images") {
        for await result in turn.cache.images(
          for: entities, format: turn.format, options: options)
        {
          turn.expect(seen.insert(result.index).inserted, "\(result.index) twice")
          turn.expect(result.totalCount == entities.count, .wrongCount, "\(result.totalCount)")
          turn.expect(result.completedCount == seen.count, .wrongCount, "\(result.completedCount)")
          switch result.result {
          case .success(let image):
            turn.see(image, of: entities[result.index], since: horizons[result.index])
          case .failure(let error): turn.note(error, of: entities[result.index], options)
          }
          if seen.count >= patience { break }
        }
      }
      turn.expect(
        seen.count >= min(patience, entities.count), .wrongCount, "\(seen.count) results")
    },

    Step(
      "prefetch",
      ["ImageCache.prefetch(_:format:depth:options:)"]
    ) { turn in
      let entities = turn.neighbours
      let options = turn.options(isPlain: true, policy: .useCache).shared
      let progress: ImageCache.PrefetchProgress
      let depth = turn.pick([ImageCache.PrefetchDepth.disk, .memory])
      if turn.chance(1, in: 3) {
        let task = Task {
          await turn.cache.prefetch(
            entities, format: turn.format, depth: depth, options: options)
        }
        await turn.rest()
        task.cancel()
        progress = await turn.call("a prefetch that is given up") { await task.value }
      } else {
        progress = await turn.call("prefetch") {
          await turn.cache.prefetch(
            entities, format: turn.format, depth: depth, options: options)
        }
        turn.expect(progress.isFinished, "\(progress)")
      }
      turn.expect(
        progress.loadedCount + progress.failedCount + progress.leftOutCount
          <= progress.totalCount, .wrongCount, "\(progress)")
      let flaky = entities.count { !$0.subject.isSteady }
      turn.expect(
        progress.failedCount <= flaky || turn.isTroubled, .wrongCount, "\(progress), \(flaky) flaky"
      )
    },

    Step(
      "prefetch window",
      [
        "PrefetchWindow.init(_:format:depth:options:)", "PrefetchWindow.insert(_:)",
        "PrefetchWindow.move(to:)", "PrefetchWindow.remove(_:)",
      ]
    ) { turn in
      let entities = turn.neighbours
      let options = turn.options(isPlain: true, policy: .useCache).shared
      let window = PrefetchWindow<PlayEntity>(
        turn.cache, format: turn.format, depth: turn.pick([.disk, .memory]), options: options)
      window.insert(entities.prefix(3))
      await turn.rest()
      window.move(to: entities.dropFirst(2))
      await turn.rest()
      window.remove(entities.prefix(4))
      // What the window fetches ahead is what a request shows.
      guard let wanted = entities.last else { return turn.nothing() }
      let horizon = turn.horizon(of: wanted)
      do {
        let image = try await turn.call("a request in a window") {
          try await turn.cache.image(for: wanted, format: turn.format, options: options)
        }
        turn.see(image, of: wanted, since: horizon)
      } catch { turn.note(error, of: wanted, options) }
      withExtendedLifetime(window) {}
    },
  ]
}

extension Turn {
  /// Entities that ask under the same conditions, and whose sources the session reaches.
  fileprivate var neighbours: [PlayEntity] {
    let all = PlayEntity.all(in: world).filter {
      $0.needsNoOptions && session.plan.wiring.serves($0.subject.scheme)
    }
    let first = roll(max(1, all.count - 6))
    return all.dropFirst(first).prefix(6).map(model.present)
  }
}

extension LoadOptions {
  /// Without what keeps loads of single entities apart.
  fileprivate var shared: LoadOptions {
    var options = self
    (options.account, options.headers, options.decoderSettings) = (nil, [:], [:])
    (options.allowsConstrainedNetworkAccess, options.allowsExpensiveNetworkAccess) = (true, true)
    return options
  }
}
