#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A reader of frames", .timeLimit(.minutes(10)))
  struct FrameTests {
    private let two = AnimatedFile(
      canvas: PixelSize(width: 8, height: 6),
      frames: [
        .init(image: .confetti(8, 6), milliseconds: 40),
        .init(x: 2, y: 2, image: .slopes(4, 3), milliseconds: 70),
      ], plays: 3)

    @Test("composes as a naive program does", arguments: AnimatedFile.Kind.allCases)
    func composes(kind: AnimatedFile.Kind) throws {
      for seed in 0..<60 {
        let file = AnimatedFile.random(kind, seed: seed)
        let data = file.data(kind)
        let header = try #require(try animation(of: data), "seed \(seed)")
        #expect(header.frameCount == file.frames.count)
        #expect(!header.isCut)
        #expect(header.frameDurations == file.frames.map { .milliseconds($0.milliseconds) })
        let bitmaps = try frames(of: data)
        #expect(bitmaps.count == file.frames.count)
        // libwebp multiplies by alpha with an error of one, which later frames let through.
        let tolerance = kind == .webp ? 2 : 0
        for (index, (bitmap, composed)) in zip(bitmaps, file.composed).enumerated() {
          #expect(bitmap.size == file.canvas)
          #expect(
            largestDifference(bitmap.packedBytes, composed) <= tolerance,
            "seed \(seed), frame \(index)")
          let isOpaque = stride(from: 3, to: composed.count, by: 4).allSatisfy {
            composed[$0] == 255
          }
          #expect(bitmap.layout.format == .bgra32 || isOpaque, "seed \(seed), frame \(index)")
        }
        let still = try decode(data)
        #expect(bitmaps[0].packedBytes == still.packedBytes, "seed \(seed)")
        #expect(bitmaps[0].layout == still.layout, "seed \(seed)")
        #expect(header.workingByteCount >= 2 * still.layout.byteCount)
      }
    }

    @Test(
      "keeps the format without alpha until something shows through",
      arguments: AnimatedFile.Kind.allCases)
    func keepsOpacity(kind: AnimatedFile.Kind) throws {
      let opaque = DrawnImage(8, 6) { x, y in (x * 16, y * 16, 7, 255) }
      let part = DrawnImage(2, 2) { x, _ in (64, 64, 7, x == 0 ? 0 : 255) }
      let file = AnimatedFile(
        canvas: opaque.size,
        frames: [
          .init(image: opaque, isBlended: false),
          .init(x: 2, y: 2, image: part, disposal: .clear), .init(x: 4, y: 2, image: part),
          .init(image: opaque, isBlended: false),
        ])
      let bitmaps = try frames(of: file.data(kind))
      let expected: [PixelFormat] =
        kind == .png
        ? [.bgra32, .bgra32, .bgra32, .bgra32] : [.bgrx32, .bgrx32, .bgra32, .bgrx32]
      #expect(bitmaps.map(\.layout.format) == expected)
    }

    @Test(
      "turns each frame upright", arguments: 1...8, [AnimatedFile.Kind.webp, .png])
    func turns(orientation: Int, kind: AnimatedFile.Kind) throws {
      let exif = Surgery.exif(orientation: orientation)
      let data =
        kind == .webp
        ? two.webp(flags: 0x1A, end: Surgery.riffChunk("EXIF", exif))
        : two.png(head: Surgery.pngChunk("eXIf", exif))
      let bitmaps = try frames(of: data)
      #expect(bitmaps.count == 2)
      for (bitmap, composed) in zip(bitmaps, two.composed) {
        let upright = Self.turned(composed, two.canvas, orientation)
        #expect(bitmap.size == (orientation < 5 ? two.canvas : two.canvas.transposed))
        #expect(largestDifference(bitmap.packedBytes, upright) <= 1)
      }
      #expect(try bitmaps[0].packedBytes == decode(data).packedBytes)
    }

    private static func turned(
      _ pixels: [UInt8], _ size: PixelSize, _ orientation: Int
    ) -> [UInt8] {
      let upright = orientation < 5 ? size : size.transposed
      return (0..<upright.height).flatMap { y in
        (0..<upright.width).flatMap { x in
          let stored = DrawnImage.stored(orientation, x: x, y: y, in: size)
          return pixels[((stored.y * size.width + stored.x) * 4)...].prefix(4)
        }
      }
    }

    @Test("attaches the file's profile to each frame")
    func attachesProfile() throws {
      let profile = Fixture.displayP3
      let files = [
        two.webp(flags: 0x32, profile: profile),
        two.png(head: Surgery.pngChunk("iCCP", Fixture.deflated(profile: profile))),
      ]
      for data in files {
        let still = try decode(data)
        for frame in try frames(of: data) {
          #expect(frame.colorConversion != nil)
          let conversions = [frame, still].map { $0.colorConversion as? LCMSConversion }
          #expect(conversions[0] === conversions[1])
        }
      }
    }

    @Test("is cancelled before a frame and within one", arguments: AnimatedFile.Kind.allCases)
    func isCancelled(kind: AnimatedFile.Kind) throws {
      // Hard to compress: libwebp is given so many encoded bytes at once.
      var random = SplitMix64(state: 1)
      let large = DrawnImage(200, 300) { _, _ in
        (.random(in: 0..<256, using: &random), .random(in: 0..<224, using: &random), 7, 255)
      }
      let file = AnimatedFile(
        canvas: large.size, frames: [.init(image: large), .init(image: large)])
      // A large frame asks within itself.
      try expectCancellation(of: file.data(kind), atLeast: 6)
    }

    @Test("has no frames of an image that does not move", arguments: AnimatedFile.Kind.allCases)
    func refusesStills(kind: AnimatedFile.Kind) throws {
      var file = two
      file.frames.removeLast()
      let data = file.data(kind)
      #expect(try animation(of: data) == nil)
      #expect(throws: ImageDecodingError.self) { try frames(of: data) }
      #expect(try decode(data).size == two.canvas)
    }

    @Test("reads the frames that came whole", arguments: AnimatedFile.Kind.allCases)
    func readsCutFiles(kind: AnimatedFile.Kind) throws {
      var file = AnimatedFile.random(kind, seed: 21)
      file.frames += file.frames
      let data = file.data(kind)
      let all = try frames(of: data).map(\.packedBytes)
      #expect(all.count == file.frames.count)
      var counts: Set<Int> = []
      var (last, wholeCount) = (0, 0)
      for length in 1..<data.count {
        let cut = Data(data.prefix(length))
        let header: AnimationHeader?
        do throws(ImageDecodingError) {
          header = try animation(of: cut)
        } catch {
          // giflib calls a palette that is cut damaged.
          let head = kind == .webp || kind == .png ? 64 : 13 + 768
          #expect(error == .truncated || length < head, "\(length) bytes: \(error)")
          #expect(last == 0)
          continue
        }
        // Without its second frame a GIF may be a still, and a PNG file its image.
        guard let header else {
          #expect(last == 0)
          continue
        }
        #expect(header.frameCount >= last && header.frameCount <= all.count)
        // A GIF that ends behind a frame may be whole.
        if !header.isCut, header.frameCount < all.count { wholeCount += 1 }
        #expect(header.frameDurations.count == header.frameCount)
        last = header.frameCount
        guard counts.insert(last).inserted else { continue }
        #expect(try frames(of: cut).map(\.packedBytes) == Array(all.prefix(last)))
      }
      #expect(counts.isSuperset(of: 1..<all.count))
      #expect(wholeCount < (kind == .webp || kind == .png ? 1 : all.count))
    }
  }
#endif
