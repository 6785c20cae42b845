#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The header of an animation", .timeLimit(.minutes(10)))
  struct AnimationHeaderTests {
    private static let dot = DrawnImage(2, 2) { x, y in (x * 16, y * 16, 7, 255) }

    private static func file(
      _ count: Int = 2, milliseconds: [Int] = [], plays: Int = 0
    ) -> AnimatedFile {
      let frames = (0..<count).map { index in
        AnimatedFile.Frame(
          image: dot, milliseconds: index < milliseconds.count ? milliseconds[index] : 100)
      }
      return AnimatedFile(canvas: dot.size, frames: frames, plays: plays)
    }

    @Test("says 100 ms where the file says less than 11, as browsers do")
    func clampsDurations() throws {
      let data = Self.file(6, milliseconds: [0, 10, 11, 12, 99, 60_000])
      let expected: [Duration] = [100, 100, 11, 12, 99, 60_000].map { .milliseconds($0) }
      #expect(try animation(of: data.webp())?.frameDurations == expected)
      #expect(try animation(of: data.png())?.frameDurations == expected)
      #if GIF
        let hundredths = Self.file(4, milliseconds: [0, 10, 20, 655_350])
        #expect(
          try animation(of: hundredths.gif())?.frameDurations
            == [100, 100, 20, 655_350].map { .milliseconds($0) })
      #endif
    }

    @Test("says a day at most, and 100 ms for what is no number")
    func limitsDurations() {
      #expect(Duration.ofFrame(seconds: 65_535) == .seconds(65_535))
      #expect(Duration.ofFrame(seconds: 1e300) == .seconds(86_400))
      #expect(Duration.ofFrame(seconds: .infinity) == .seconds(86_400))
      #expect(Duration.ofFrame(seconds: -1) == .milliseconds(100))
      #expect(Duration.ofFrame(seconds: .nan) == .milliseconds(100))
      #expect(Duration.ofFrame(seconds: 0.1) == .milliseconds(100))
      #expect(Duration.ofFrame(seconds: 1.0 / 30) == .nanoseconds(33_333_333))
    }

    @Test("counts a delay without a denominator in hundredths, as PNG has it")
    func readsFractions() throws {
      let png = Self.file().png { chunks in
        chunks.enumerated().map { index, chunk in
          guard chunk[4..<8].elementsEqual("fcTL".utf8) else { return chunk }
          var content = Data(chunk.dropFirst(8).dropLast(4))
          content.replaceSubrange(20..<24, with: index == 0 ? [0, 7, 0, 0] : [0, 1, 0, 3])
          return Surgery.pngChunk("fcTL", content)
        }
      }
      #expect(
        try animation(of: png)?.frameDurations == [.milliseconds(70), .nanoseconds(333_333_333)])
    }

    @Test("counts plays: none for ever", arguments: [0, 1, 2, 65_535])
    func countsLoops(plays: Int) throws {
      let file = Self.file(plays: plays)
      let expected = plays == 0 ? nil : plays
      for data in [file.webp(), file.png()] {
        let header = try #require(try animation(of: data))
        #expect(header.loopCount == expected)
      }
      #if GIF
        // The number is of repeats, and a file without it plays once.
        let header = try #require(try animation(of: file.gif(repeats: plays)))
        #expect(header.loopCount == (plays == 0 ? nil : plays + 1))
        let without = try #require(try animation(of: file.gif(repeats: nil)))
        #expect(without.loopCount == 1)
      #endif
    }

    @Test("is no frame's pixels: a million frames are counted, and refused with both numbers")
    func countsManyFrames() throws {
      let count = 1_000_000
      let frame = AnimatedFile.webpFrame(Self.file(1).frames[0])
      var chunks = Surgery.riffChunk("ANIM", Data(count: 6))
      chunks.reserveCapacity(count * frame.count)
      for _ in 0..<count { chunks += frame }
      let data = Surgery.extendedWebP(flags: 0x02, width: 2, height: 2, chunks)
      expectTooLarge(naming: "1000000 frames", "4096") { try animation(of: data) }
      #expect(throws: ImageDecodingError.self) { try frames(of: data) }
    }

    @Test("is made of no more frames than the limit")
    func listsFrames() {
      var limits = DecodingLimits()
      limits.frameCount = 2
      var animation = StoredAnimation(canvas: Self.dot.size, loopCount: nil)
      for _ in 0..<5 {
        let frame = StoredFrame(
          x: 0, y: 0, size: Self.dot.size, duration: .seconds(1), disposal: .keep,
          isBlended: false, range: 0..<1)
        animation.append(frame, within: limits)
      }
      #expect(animation.frames.count == 2 && animation.frameCount == 5)
    }

    @Test("keeps the limits", arguments: AnimatedFile.Kind.allCases)
    func keepsLimits(kind: AnimatedFile.Kind) throws {
      let data = Self.file(3).data(kind)
      let byteCount = try #require(try animation(of: data)).workingByteCount
      var limits = DecodingLimits()
      limits.frameCount = 3
      limits.animationPixelCount = 12
      limits.encodedByteCount = data.count
      limits.workingByteCount = byteCount
      limits.pixelCount = 4
      limits.sideLength = 2
      #expect(try animation(of: data, limits: limits)?.frameCount == 3)
      #expect(try frames(of: data, limits: limits).count == 3)
      let cases: [(WritableKeyPath<DecodingLimits, Int>, String)] = [
        (\.frameCount, "3 frames"), (\.animationPixelCount, "12 in all"),
        (\.encodedByteCount, "\(data.count) bytes"), (\.workingByteCount, "\(byteCount) bytes"),
        (\.pixelCount, "2x2"), (\.sideLength, "2x2"),
      ]
      for (limit, number) in cases {
        var smaller = limits
        smaller[keyPath: limit] -= 1
        let name = "\(smaller[keyPath: limit])"
        expectTooLarge(naming: number, name) { try animation(of: data, limits: smaller) }
        expectTooLarge(naming: number, name) { try frames(of: data, limits: smaller) }
      }
    }

    @Test("refuses the largest canvas times many frames before it takes memory")
    func refusesLargeCanvases() throws {
      let frame = AnimatedFile.webpFrame(Self.file(1).frames[0])
      let chunks = Surgery.riffChunk("ANIM", Data(count: 6)) + frame + frame
      for side in [10_000, 16_383] {
        let data = Surgery.extendedWebP(flags: 0x02, width: side, height: side, chunks)
        var limits = DecodingLimits()
        limits.pixelCount = 1 << 30
        expectTooLarge(naming: "\(side)x\(side)") { try animation(of: data, limits: limits) }
      }
    }

    @Test("of a file counts frames beyond the limits, and one where they are damaged")
    func countsRefusedFrames() throws {
      let frame = AnimatedFile.Frame(image: .slopes(4, 4))
      let canvas = PixelSize(width: 16383, height: 16383)
      let large = AnimatedFile(canvas: canvas, frames: Array(repeating: frame, count: 5))
      let header = try ImageHeader(of: large.webp())
      #expect(header.frameCount == 5 && header.size == canvas)
      let file = AnimatedFile(canvas: frame.image.size, frames: [frame, frame])
      #expect(try ImageHeader(of: file.png()).frameCount == 2)
      // A frame without pixels.
      #expect(try ImageHeader(of: file.png { Array($0[..<3]) }).frameCount == 1)
    }
  }
#endif
