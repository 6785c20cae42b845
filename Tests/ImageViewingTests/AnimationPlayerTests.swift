import FastImageCache
import TestSupport
import Testing

@testable import ImageViewing

@Suite("A player of an animation")
struct AnimationPlayerTests {
  private static let all: @Sendable (Int) -> Bool = { _ in true }

  private func player(_ milliseconds: [Int], loops: Int? = nil) -> AnimationPlayer {
    AnimationPlayer(
      AnimationTimeline(
        frameDurations: milliseconds.map { .milliseconds($0) }, loopCount: loops))
  }

  /// The frame after each tick.
  private func frames(
    _ player: inout AnimationPlayer, at times: some Sequence<Duration>,
    isReady: (Int) -> Bool = all
  ) -> [Int] {
    times.map { time in
      _ = player.tick(at: time, isReady: isReady)
      return player.index
    }
  }

  @Test("shows each frame for its duration when it is asked as it says")
  func plays() throws {
    var player = player([20, 30, 100])
    var now = Duration.seconds(7)
    var changes: [Duration] = []
    for index in [0, 1, 2, 0, 1, 2, 0] {
      let rest = player.tick(at: now, isReady: Self.all)
      #expect(player.index == index)
      changes.append(now)
      now += try #require(rest)
    }
    // Each is shown a little early, and by that much only.
    let ideal = [0, 20, 50, 150, 170, 200, 300].map { Duration.seconds(7) + .milliseconds($0) }
    #expect(zip(changes, ideal).allSatisfy { $0 <= $1 && $1 - $0 < .milliseconds(5) })
  }

  @Test("keeps its pace at ticks that do not fit its durations")
  func keepsPace() {
    var player = player(.init(repeating: 40, count: 250))
    // 60 frames a second, for eight seconds.
    let shown = frames(&player, at: (0..<480).map { .microseconds($0 * 16_667) })
    #expect((198...201).contains(shown.last ?? 0))
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 <= 1 })
  }

  @Test("skips no frame when ticks come late, and shows each for its duration afterwards")
  func stalls() {
    var player = player([20, 20, 20, 20])
    #expect(frames(&player, at: [.zero, .seconds(5), .seconds(9)]) == [0, 1, 2])
    // The time that was lost is not caught up.
    let after = frames(&player, at: [10, 19, 30].map { .seconds(9) + .milliseconds($0) })
    #expect(after == [2, 3, 3])
  }

  @Test("moves on once at each time, however many views ask")
  func movesOnce() {
    var numbers = SplitMix64(state: 7)
    for _ in 0..<200 {
      var player = player((0..<4).map { _ in .random(in: 11...60, using: &numbers) })
      var now = Duration.zero
      for _ in 0..<50 {
        let before = player.index
        _ = player.tick(at: now, isReady: Self.all)
        let moved = player.index
        #expect(moved == before || moved == (before + 1) % 4)
        _ = player.tick(at: now, isReady: Self.all)
        #expect(player.index == moved)
        now += .milliseconds(.random(in: 1...90, using: &numbers))
      }
    }
  }

  @Test("waits for a frame that is not ready, and is asked at each tick until it is")
  func waits() {
    var player = player([20, 20, 20])
    #expect(player.tick(at: .zero, isReady: { $0 == 0 }) == .milliseconds(16))
    for time in [20, 40, 400] {
      #expect(player.tick(at: .milliseconds(time), isReady: { $0 == 0 }) == .zero)
      #expect(player.index == 0)
    }
    #expect(player.tick(at: .milliseconds(410), isReady: Self.all) == .milliseconds(16))
    #expect(player.index == 1)
  }

  @Test("ends with its last frame after its loops, and needs no tick then")
  func ends() {
    var player = player([20, 20], loops: 2)
    #expect(frames(&player, at: (0..<3).map { .milliseconds(20 * $0) }) == [0, 1, 0])
    #expect(!player.hasEnded)
    #expect(player.tick(at: .milliseconds(60), isReady: Self.all) == nil)
    #expect(player.index == 1 && player.hasEnded)
    #expect(frames(&player, at: [.seconds(2), .seconds(3)]) == [1, 1])
    player.seek(to: .zero)
    #expect(!player.hasEnded && player.index == 0)
    #expect(frames(&player, at: (200..<205).map { .milliseconds(20 * $0) }) == [0, 1, 0, 1, 1])
  }

  @Test("never moves where there is one frame")
  func stays() {
    var player = player([])
    #expect(player.tick(at: .zero, isReady: Self.all) == nil)
    #expect(player.tick(at: .seconds(9), isReady: Self.all) == nil)
    #expect(player.index == 0)
  }

  @Test("stays while it is paused, and shows the frame for its duration afterwards")
  func pauses() {
    var player = player([20, 20, 20])
    #expect(frames(&player, at: [.zero, .milliseconds(20)]) == [0, 1])
    player.pause()
    #expect(player.tick(at: .milliseconds(40), isReady: Self.all) == nil)
    #expect(frames(&player, at: [.seconds(1), .seconds(2)]) == [1, 1])
    player.resume()
    let after = frames(&player, at: [0, 10, 20].map { .seconds(3) + .milliseconds($0) })
    #expect(after == [1, 1, 2])
  }

  @Test("goes on from a time that was sought, in the loop of that time")
  func seeks() {
    var player = player([20, 30, 50], loops: 3)
    for (time, index) in [(0, 0), (25, 1), (99, 2), (130, 1), (290, 2), (5000, 2), (-7, 0)] {
      player.seek(to: .milliseconds(time))
      #expect(player.index == index)
      #expect(player.hasEnded == (time > 250))
    }
    player.seek(to: .milliseconds(240))
    #expect(frames(&player, at: [0, 30, 60].map { .milliseconds($0) }) == [1, 2, 2])
    // Also while it is paused, until the frame is there.
    player.pause()
    player.seek(to: .milliseconds(25))
    #expect(player.tick(at: .zero, isReady: { $0 == 0 }) == .zero)
    #expect(player.tick(at: .zero, isReady: Self.all) == nil)
    #expect(player.index == 1)
  }

  @Test("goes on when the clock is set back")
  func survivesClock() {
    var player = player([20, 20, 20])
    #expect(frames(&player, at: [.seconds(100), .seconds(1)]) == [0, 0])
    #expect(frames(&player, at: [20, 40].map { .seconds(1) + .milliseconds($0) }) == [1, 2])
  }
}
