#if !canImport(ImageIO)
  import CTestProbes
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("An animation of 10 000 frames", .timeLimit(.minutes(10)))
  struct AnimationTests {
    private static let frameCount = 10_000
    private static let first = DrawnImage.confetti(8, 6)
    // Made once: so many checksums take their time.
    private static let animations = [webp(), png()]

    private let first = Self.first

    /// - Parameters:
    ///   - later: The chunk that stands for each frame after the first.
    ///   - end: What follows all frames.
    private static func webp(
      frames count: Int = frameCount, later: Data? = nil, end: Data = Data()
    ) -> Data {
      let other = Fixture.webp(DrawnImage(2, 2) { _, _ in (1, 2, 3, 255) })
      let later = later ?? Surgery.webpFrame(other, x: 2, y: 2, width: 2, height: 2)
      var frames =
        Surgery.riffChunk("ANIM", Data(count: 6))
        + Surgery.webpFrame(Fixture.webp(first), x: 0, y: 0, width: 8, height: 6)
      for _ in 1..<count { frames += later }
      let flags: UInt8 = end.isEmpty ? 0x02 : 0x0A
      return Surgery.extendedWebP(flags: flags, width: 8, height: 6, frames + end)
    }

    /// APNG: the image proper, then frames in chunks that PNG does not know.
    private static func png(frames count: Int = frameCount, laterByteCount: Int = 20) -> Data {
      let still = Fixture.png(first)
      // PNG third edition, sections 11.3.6.1 to 3: numbers of frames and plays; sequence number,
      // size, place, delay and ways of composing; sequence number and pixels.
      let control = Surgery.bigEndian(count, bytes: 4) + Data(count: 4)
      var later = Data()
      for number in 1..<count {
        later += Surgery.pngChunk("fcTL", Surgery.bigEndian(number, bytes: 4) + Data(count: 22))
        later += Surgery.pngChunk(
          "fdAT", Surgery.bigEndian(number, bytes: 4) + Data(count: laterByteCount))
      }
      return Surgery.adding(chunk: "acTL", control, toPNG: still.dropLast(12) as Data)
        + later + still.suffix(12)
    }

    private func allocationCount(of data: Data) throws -> Int {
      let before = probe_allocation_count()
      _ = try decode(data)
      return probe_allocation_count() - before
    }

    @Test("shows its first frame, as WebP and as PNG")
    func showsFirstFrame() throws {
      for data in Self.animations {
        let bitmap = try decode(data)
        #expect(try header(of: data).size == first.size)
        #expect(largestDifference(bitmap.packedBytes, first.premultipliedBGRA) <= 1)
      }
    }

    @Test(
      "takes no more allocations than one of two", .enabled(if: probe_counts_allocations() == 1))
    func allocatesForOneFrame() throws {
      for (long, short) in zip(Self.animations, [Self.webp(frames: 2), Self.png(frames: 2)]) {
        // The first decodes set things up that later ones find, and one may find no spare memory, which all tests
        // share: so in turns, and the fewest of each.
        var fewest = (long: Int.max, short: Int.max)
        for turn in 0..<50 where turn == 0 || fewest.long != fewest.short {
          fewest.long = min(fewest.long, try allocationCount(of: long))
          fewest.short = min(fewest.short, try allocationCount(of: short))
        }
        #expect(fewest.long == fewest.short)
      }
    }

    @Test("is refused by the limits of encoded bytes and of pixels")
    func keepsLimits() throws {
      for data in Self.animations {
        var limits = DecodingLimits()
        limits.encodedByteCount = data.count
        limits.pixelCount = 48
        limits.workingByteCount = 1 << 19
        #expect(try decode(data, limits: limits).size == first.size)
        limits.pixelCount = 47
        #expect(throws: ImageDecodingError.self) { try decode(data, limits: limits) }
        limits.pixelCount = 48
        limits.encodedByteCount = data.count - 1
        #expect(throws: ImageDecodingError.self) { try decode(data, limits: limits) }
      }
    }

    @Test("shows its first frame whatever the others are")
    func ignoresLaterFrames() throws {
      let other = Fixture.webp(DrawnImage(2, 2) { _, _ in (1, 2, 3, 255) })
      let hostile = [
        // Beyond the canvas, of the largest size, of a size that its pixels contradict.
        Surgery.webpFrame(other, x: 1 << 24, y: 1 << 24, width: 2, height: 2),
        Surgery.webpFrame(other, x: 0, y: 0, width: 1 << 24, height: 1 << 24),
        Surgery.webpFrame(other, x: 0, y: 0, width: 8, height: 6),
        Surgery.riffChunk("ANMF", Data()),
        Surgery.riffChunk("ANMF", Data(count: 16)),
        Surgery.riffChunk("JUNK", Data()),
      ]
      for later in hostile {
        let bitmap = try decode(Self.webp(frames: 100, later: later))
        #expect(largestDifference(bitmap.packedBytes, first.premultipliedBGRA) <= 1)
      }
      let bitmap = try decode(Self.png(frames: 100, laterByteCount: 0))
      #expect(largestDifference(bitmap.packedBytes, first.premultipliedBGRA) == 0)
    }

    @Test("obeys the orientation that stands behind all frames, also without its byte of padding")
    func obeysOrientation() throws {
      let exif = Surgery.exif(orientation: 6)
      let odd = Surgery.riffChunk("EXIF", exif + Data(count: 1))
      for end in [Surgery.riffChunk("EXIF", exif), Data(odd.dropLast())] {
        #expect(try decode(Self.webp(end: end)).size == PixelSize(width: 6, height: 8))
      }
    }

    @Test("is refused when its first frame is empty, or none is there")
    func refusesEmptyFirstFrame() {
      let animation = Surgery.riffChunk("ANIM", Data(count: 6))
      for chunk in ["ANMF", "JUNK"] {
        var frames = animation
        for _ in 0..<Self.frameCount { frames += Surgery.riffChunk(chunk, Data()) }
        let data = Surgery.extendedWebP(flags: 0x02, width: 8, height: 6, frames)
        #expect(throws: ImageDecodingError.self) { try decode(data) }
      }
    }

    @Test("is refused when it is preceded by 10 000 chunks that mean nothing")
    func refusesLeadingChunks() {
      var chunks = Data()
      for _ in 0..<Self.frameCount { chunks += Surgery.riffChunk("JUNK", Data()) }
      let image = Surgery.webpChunks(Fixture.webp(first))
      let data = Surgery.extendedWebP(flags: 0, width: 8, height: 6, chunks + image)
      #expect(throws: ImageDecodingError.self) { try decode(data) }
    }

    @Test("is whole when it is cut behind its first frame", arguments: [1, 2, 3, 5, 7, 9])
    func readsCutFiles(tenths: Int) throws {
      for data in Self.animations {
        let cut = data.prefix(data.count * tenths / 10)
        let bytes = try decode(cut).packedBytes
        #expect(largestDifference(bytes, first.premultipliedBGRA) <= 1)
      }
    }
  }
#endif
