import FastImageCache
import Foundation

extension Step {
  /// What one account's users must not see of another's.
  static let accounts: [Step] = [
    Step(
      "picture by hand for an account", [], weight: 2, need: .entity { $0.account > 0 },
      needsOriginals: true
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: turn.entity.subject.number)
      turn.model.willStore(mark, for: turn.entity, keepsOriginal: true)
      defer { turn.world.timeline.endHand(mark) }
      _ = try await turn.call("store for an account") {
        try await turn.cache.store(
          try turn.world.files.data(of: mark, .png), for: turn.entity, format: turn.format,
          account: turn.handsAccount, keepsOriginal: true)
      }
      turn.model.shown(mark, of: turn.entity, turn.format)
      // The same address without an account, and without an image of its own.
      let other = PlayEntity.all(in: turn.world).first {
        $0.subject == turn.entity.subject && $0.needsNoOptions
      }
      guard let other = other.map(turn.model.present) else { return turn.nothing() }
      let time = turn.world.timeline.tick()
      try await turn.call("removal before another account's request") {
        try await turn.cache.removeImage(for: other, format: turn.format)
      }
      turn.model.removeImages(of: other, [turn.format], at: time)
      let horizon = turn.horizon(of: other)
      do {
        let image = try await turn.call("another account's request") {
          try await turn.cache.image(for: other, format: turn.format)
        }
        turn.see(image, of: other, since: horizon, "after a store for an account")
      } catch { turn.note(error, of: other) }
    }
  ]
}
