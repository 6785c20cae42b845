import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The timeline of an animation")
struct AnimationTimelineTests {
  @Test("agrees with a walk from frame to frame")
  func walks() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let durations = (0..<Int.random(in: 2...9, using: &random)).map { _ in
        Duration.milliseconds(Int.random(in: 1...50, using: &random))
      }
      let loops = Bool.random(using: &random) ? nil : Int.random(in: 1...3, using: &random)
      let timeline = AnimationTimeline(frameDurations: durations, loopCount: loops)
      var time = Duration.zero
      for loop in 0..<(loops ?? 4) {
        for (index, duration) in durations.enumerated() {
          let isLast = loop + 1 == loops && index + 1 == durations.count
          #expect(timeline.frame(at: time) == (index, isLast ? nil : duration))
          let end = timeline.frame(at: time + duration - .microseconds(1))
          #expect(end == (index, isLast ? nil : .microseconds(1)))
          time += duration
        }
      }
      let after = timeline.frame(at: time)
      #expect(after.index == (loops == nil ? 0 : durations.count - 1))
      #expect((after.rest == nil) == (loops != nil))
    }
  }

  @Test("has one frame that stays where there is nothing to play")
  func stays() {
    let timeline = AnimationTimeline(frameDurations: [], loopCount: nil)
    #expect(timeline.frameCount == 1)
    #expect(timeline.frame(at: .seconds(5)) == (0, nil))
    let odd = AnimationTimeline(frameDurations: [.zero, .seconds(-1)], loopCount: 0)
    #expect(odd.duration == .microseconds(2))
    let long = AnimationTimeline(frameDurations: [.seconds(1_000_000)], loopCount: nil)
    #expect(long.duration == .seconds(3600))
    #expect(odd.frame(at: .seconds(-3)).index == 0)
    #expect((0..<2).contains(odd.frame(at: .seconds(Int64.max)).index))
    let endless = AnimationTimeline(frameDurations: [.zero, .zero], loopCount: nil)
    #expect((0..<2).contains(endless.frame(at: .seconds(Int64.max)).index))
  }

  @Test("stands beside the pixels of the first frame as it was, and garbage is a still's metadata")
  func roundTrip() {
    let timeline = AnimationTimeline(
      frameDurations: [.milliseconds(100), .milliseconds(100), .seconds(70)]
        + .init(repeating: .microseconds(33_333), count: 400),
      loopCount: 7)
    for motion in [
      SlotMotion.still, .unkept(nonce: 8),
      .stored(StoredMotion(nonce: .max - 5, timeline: timeline)),
    ] {
      for metadata in [[], [1, 2, 3], [UInt8](repeating: 9, count: 400)] {
        let (read, rest) = SlotMotion.parting(motion.bytes + metadata)
        #expect(read == motion)
        #expect(Array(rest) == metadata)
      }
    }
    let many = StoredMotion(
      nonce: 1,
      timeline: AnimationTimeline(
        frameDurations: .init(repeating: .seconds(1), count: 70_000), loopCount: nil))
    #expect(SlotMotion.parting(SlotMotion.stored(many).bytes).motion == .still)
    for garbage in [[], [0], [1, 0], [1, 0, 9, 1], [9, 0, 1, 2], [0, 0, 0]] as [[UInt8]] {
      let (motion, metadata) = SlotMotion.parting(garbage)
      #expect(motion == .still && Array(metadata) == garbage)
    }
  }
}

/// Frame `n` of number `x` is ``solid(_:size:)`` of `100 x + n`.
func movingDecoder() -> FramesDecoder {
  FramesDecoder(size: PixelSize(width: 16, height: 16)) { try solid($0 * 100 + $1) }
}

/// An encoded animation for it, of two loops, whose frames take 20, 30, 40… ms.
func moving(_ number: Int, frames: Int, _ oddity: FramesDecoder.Oddity = .nothing) -> Data {
  FramesDecoder.bytes(
    number, loops: 2, milliseconds: (0..<frames).map { 20 + $0 * 10 }, oddity)
}

extension CachedAnimation {
  /// The numbers of the frames that are ready; `nil` for one that is not.
  var numbers: [Int?] {
    (0..<frameCount).map { index in
      let frame = frame(at: index)
      return frame.isReady ? frame.image.solidNumber : nil
    }
  }

  /// Waits until all frames are there, or the test's time is over.
  func ready() async {
    while numbers.contains(nil), !Task.isCancelled { await Task.yield() }
  }
}

extension ImageFormat {
  static let sticker = ImageFormat(
    "sticker", 32, capacity: 16, animation: .allFrames(byteLimit: 1 << 20))

  func keeping(_ animation: Animation, capacity: Capacity = 16) -> ImageFormat {
    ImageFormat(
      name: name, size: .exact(size), pixelFormat: pixelFormat, capacity: capacity,
      animation: animation)
  }
}

/// A source of animations: `moving:/NUMBER/FRAMES`.
func movingSource() -> ScriptedSource {
  ScriptedSource { url, _, _ in
    let parts = url.pathComponents.dropFirst().compactMap { Int($0) }
    return .encoded(moving(parts[0], frames: parts[1]))
  }
}
