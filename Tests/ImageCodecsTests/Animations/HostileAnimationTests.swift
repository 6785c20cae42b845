#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("A hostile animation", .timeLimit(.minutes(10)))
  struct HostileAnimationTests {
    private let file = AnimatedFile(
      canvas: PixelSize(width: 8, height: 6),
      frames: [
        .init(image: .confetti(8, 6)), .init(x: 2, y: 2, image: .slopes(4, 3)),
        .init(x: 0, y: 2, image: .confetti(3, 2)),
      ])

    private func expectRefusal(
      _ data: Data, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
      expectDamaged(comment, sourceLocation: sourceLocation) { try animation(of: data) }
      expectDamaged(comment, sourceLocation: sourceLocation) { try frames(of: data) }
    }

    private func reader(of data: Data) throws -> any FrameReader {
      let decoder = try #require(
        try ImageDecoders.standard.decoder(for: data) as? any AnimationDecoder)
      return try decoder.frames(of: data, DecodeRequest())
    }

    // MARK: WebP

    @Test("of WebP is refused without frames, or with one beyond its canvas or without a head")
    func refusesWebPFrames() {
      for (x, y) in [(6, 0), (0, 6), (1 << 24, 1 << 24)] {
        var file = file
        (file.frames[2].x, file.frames[2].y) = (x, y)
        expectRefusal(file.webp())
      }
      for count in [0, 15] {
        expectRefusal(file.webp(end: Surgery.riffChunk("ANMF", Data(count: count))))
      }
      var none = file
      none.frames = []
      #expect(throws: ImageDecodingError.self) { try animation(of: none.webp()) }
    }

    @Test("of WebP is refused at a frame whose image is missing, of another size, or damaged")
    func refusesWebPImages() throws {
      let wrong = [
        Surgery.webpFrame(Fixture.webp(.confetti(2, 2)), x: 0, y: 0, width: 4, height: 2),
        Surgery.webpFrame(Data(count: 12), x: 0, y: 0, width: 4, height: 2),
        Surgery.webpFrame(
          Data(count: 12) + Surgery.riffChunk("JUNK", Data(count: 40)), x: 0, y: 0, width: 4,
          height: 2),
        Surgery.webpFrame(
          Data(Fixture.webp(.confetti(4, 2)).dropLast(8)), x: 0, y: 0, width: 4, height: 2),
      ]
      for frame in wrong {
        let data = file.webp(end: frame)
        #expect(try animation(of: data)?.frameCount == 4)
        let reader = try reader(of: data)
        for _ in 0..<3 { #expect(try reader.next() != nil) }
        #expect(throws: ImageDecodingError.self) { try reader.next() }
      }
    }

    @Test("of WebP is no longer than it says, and refused when a chunk says more")
    func obeysWebPLength() throws {
      let data = file.webp()
      var long = data
      // The first frame's chunk: RIFF and WEBP, VP8X, ANIM.
      long.replaceSubrange(12 + 18 + 14 + 4..<12 + 18 + 14 + 8, with: [0xFF, 0xFF, 0xFF, 0x7F])
      #expect(throws: ImageDecodingError.self) { try animation(of: long) }
      var last = data + AnimatedFile.webpFrame(file.frames[2])
      #expect(try animation(of: last)?.frameCount == 3)
      last.replaceSubrange(4..<8, with: Surgery.littleEndian(last.count - 8, bytes: 4))
      #expect(try animation(of: last)?.frameCount == 4)
    }

    // MARK: PNG

    private func changing(_ name: String, at index: Int, _ change: @escaping (inout Data) -> Void)
      -> Data
    {
      file.png { chunks in
        var seen = -1
        return chunks.map { chunk in
          guard chunk[4..<8].elementsEqual(name.utf8) else { return chunk }
          seen += 1
          guard seen == index else { return chunk }
          var content = Data(chunk.dropFirst(8).dropLast(4))
          change(&content)
          return Surgery.pngChunk(name, content)
        }
      }
    }

    @Test("of PNG is refused when a frame reaches beyond its canvas, or has no pixels to show")
    func refusesPNGFrames() {
      // Width, height, x and y stand behind the number.
      for (offset, value) in [(4, 0), (8, 0), (4, 7), (8, 5), (12, 5), (16, 4), (12, 1 << 31)] {
        expectRefusal(
          changing("fcTL", at: 1) {
            $0.replaceSubrange(offset..<offset + 4, with: Surgery.bigEndian(value, bytes: 4))
          }, "\(value) at \(offset)")
      }
      // The image proper is all of the canvas.
      expectRefusal(changing("fcTL", at: 0) { $0[7] = 7 })
      expectRefusal(changing("fcTL", at: 1) { $0[24] = 3 })
      expectRefusal(changing("fcTL", at: 1) { $0[25] = 2 })
      expectRefusal(changing("fcTL", at: 1) { $0.removeLast() })
    }

    @Test("of PNG is refused when its chunks are out of order, missing or there twice")
    func refusesPNGOrder() {
      // fcTL, IDAT, then fcTL, fdAT and fdAT for each frame.
      expectRefusal(file.png { $0.dropLast() + [$0[2]] + $0.suffix(1) })
      expectRefusal(file.png { [$0[3]] + $0 })
      expectRefusal(
        file.png {
          var chunks = $0
          chunks.swapAt(3, 4)
          return chunks
        })
      expectRefusal(file.png { Array($0[..<3] + $0[4...]) })
      expectRefusal(file.png { Array($0[..<4] + $0[5...]) })
      expectRefusal(file.png { Array($0[..<3]) })
      expectRefusal(changing("fdAT", at: 0) { $0.removeAll() })
      expectRefusal(changing("fdAT", at: 0) { $0[3] &+= 1 })
      // Pixels behind the image proper without a frame of theirs.
      let orphan = Surgery.pngChunk("fdAT", Surgery.bigEndian(1, bytes: 4) + Data(count: 9))
      expectRefusal(file.png { Array($0[..<2]) + [orphan] })
      // A control chunk whose frame the next one replaces.
      expectRefusal(file.png(announced: 9) { Array($0.prefix(1)) + $0 })
    }

    @Test("of PNG reads the image proper once, whatever other image chunks stand between frames")
    func ignoresLateImages() throws {
      // Pixels of the canvas for a frame that is smaller.
      let data = file.png { chunks in
        Array(chunks[..<3] + [chunks[1]] + chunks[3...])
      }
      #expect(try frames(of: data).map(\.packedBytes) == file.composed)
    }

    @Test("of PNG is refused at a frame with damaged or missing pixels")
    func refusesPNGPixels() throws {
      let broken = [
        changing("fdAT", at: 0) { $0[4] ^= 0xFF },
        changing("fdAT", at: 1) { $0.removeLast($0.count - 4) },
        file.png { chunks in
          var chunks = chunks
          chunks[4][chunks[4].count - 1] ^= 1
          return chunks
        },
      ]
      for data in broken {
        #expect(try animation(of: data)?.frameCount == 3)
        let reader = try reader(of: data)
        #expect(try reader.next()?.packedBytes == file.composed[0])
        #expect(throws: ImageDecodingError.self) { try reader.next() }
      }
    }

    @Test("of PNG has as many frames as there are, up to those announced")
    func countsPNGFrames() throws {
      let announced = [(0, 0), (1, 0), (2, 2), (3, 3), (4, 3), (1 << 31 - 1, 3)]
      for (count, expected) in announced {
        let data = file.png(announced: count)
        let header = try animation(of: data)
        #expect(header?.frameCount ?? 0 == expected)
        #expect(header?.isCut != true)
        guard expected > 0 else { continue }
        #expect(try frames(of: data).map(\.packedBytes) == Array(file.composed.prefix(expected)))
      }
      // An announcement, and no frame.
      #expect(try animation(of: file.png { [$0[1]] }) == nil)
    }

    @Test("of PNG does not show an image that stands before its frames")
    func hidesImage() throws {
      let hidden = DrawnImage(8, 6) { _, _ in (1, 2, 3, 255) }
      let data = file.png(hidden: hidden)
      #expect(try animation(of: data)?.frameCount == 3)
      #expect(try frames(of: data).map(\.packedBytes) == file.composed)
      // A still is what it was.
      #expect(try decode(data).packedBytes == hidden.premultipliedBGRA)
      // Then the first frame need not be all of the canvas, nor keep what was before it.
      var small = file
      small.frames = [
        .init(x: 3, y: 1, image: .slopes(2, 2), disposal: .restore),
        .init(x: 1, y: 1, image: .confetti(4, 4)),
      ]
      #expect(
        try frames(of: small.png(hidden: hidden)).map(\.packedBytes) == small.composed)
    }

    @Test("of PNG is none when its announcement is damaged or late")
    func ignoresAnnouncements() throws {
      let still = Fixture.png(PixelSize(width: 8, height: 6), file.frames[0].image.rgba)
      let animation = Surgery.bigEndian(3, bytes: 4) + Data(count: 4)
      for data in [
        Surgery.adding(Surgery.damagedChunk("acTL", animation), toPNG: still),
        Surgery.adding(chunk: "acTL", Data(animation.dropLast()), toPNG: still),
        Surgery.adding(Surgery.pngChunk("acTL", animation), behindPixels: true, toPNG: still),
      ] {
        #expect(try ImageCodecsTests.animation(of: data) == nil)
      }
    }

    @Test(
      "of PNG of each kind of colours is composed as colour",
      arguments: [0, 2, 3, 4, 6] as [Int32],
      [false, true])
    func composesColors(type: Int32, isInterlaced: Bool) throws {
      let gray = DrawnImage(8, 6) { x, y in (x * 20 + y, x * 20 + y, x * 20 + y, 255) }
      let small = DrawnImage(3, 2) { x, y in (x * 70, x * 70, x * 70, 255) }
      let palette = (0..<256).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
      let file = AnimatedFile(
        canvas: gray.size,
        frames: [
          .init(image: gray), .init(x: 4, y: 3, image: small, disposal: .clear),
          .init(x: 1, y: 1, image: small, isBlended: false),
        ])
      func rows(_ photo: DrawnImage) -> [UInt8] {
        switch type {
        case 2: photo.rgb
        case 4: photo.red.flatMap { [$0, 255] }
        case 6: photo.rgba
        default: photo.red
        }
      }
      let options = Fixture.PNGOptions(
        colorType: type, isInterlaced: isInterlaced, palette: type == 3 ? palette : [])
      let data = file.png(encode: { Fixture.png($0.size, rows($0), options) })
      let bitmaps = try frames(of: data)
      #expect(bitmaps.map(\.packedBytes) == file.composed)
      let isOpaque = type < 4
      let (first, last): (PixelFormat, PixelFormat) = (isOpaque ? .bgrx32 : .bgra32, .bgra32)
      #expect(bitmaps.map(\.layout.format) == [first, first, last])
    }

    // MARK: GIF

    #if GIF
      @Test("of GIF shows what lies on its screen")
      func clipsGIF() throws {
        func spot(_ width: Int, _ height: Int) -> DrawnImage {
          DrawnImage(width, height) { x, y in (x * 16, y * 16, 7, (x + y) % 3 == 0 ? 0 : 255) }
        }
        var file = AnimatedFile(canvas: PixelSize(width: 8, height: 6), frames: [])
        file.frames = [
          .init(image: spot(8, 6)), .init(x: 6, y: 4, image: spot(5, 5), disposal: .clear),
          .init(x: 60_000, y: 2, image: spot(3, 3), disposal: .clear),
          .init(x: 2, y: 60_000, image: spot(3, 3), disposal: .restore),
          .init(x: 7, y: 0, image: DrawnImage(3, 9) { _, _ in (16, 16, 7, 255) }, isBlended: false),
        ]
        let data = file.gif()
        #expect(try animation(of: data)?.frameCount == 5)
        #expect(try frames(of: data).map(\.packedBytes) == file.composed)
      }

      @Test("of GIF counts the memory of a frame that is larger than its screen")
      func countsGIFFrames() throws {
        var file = AnimatedFile(
          canvas: PixelSize(width: 2, height: 2),
          frames: [.init(image: DrawnImage(2, 2) { _, _ in (16, 16, 7, 255) })])
        file.frames += file.frames
        var data = file.gif()
        let second = try #require(data.range(of: Data([0x2C]), options: .backwards))
        // Width and height stand behind the place.
        data.replaceSubrange(
          second.upperBound + 4..<second.upperBound + 8, with: Data(repeating: 0xFF, count: 4))
        expectTooLarge(naming: "2x2", "268435456") { try animation(of: data) }
      }

      @Test("of GIF ends where it cannot be read")
      func endsGIF() throws {
        var file = AnimatedFile.random(.gif, seed: 5)
        file.frames = Array(file.frames.prefix(2))
        let data = Data(file.gif().dropLast())
        for end in [Data(), Data([0x00]), Data([0x2C, 0, 0]), Data([0x21, 0xFF, 40])] {
          let header = try #require(try animation(of: data + end))
          #expect(header.frameCount == 2)
          // Nothing that begins as a block of GIF: the file is whole for browsers.
          #expect(header.isCut == (end.count > 1))
          #expect(try frames(of: data + end).map(\.packedBytes) == file.composed)
        }
      }

      @Test("of GIF takes the last control before a frame, and the first number of repeats")
      func readsGIFExtensions() throws {
        let dot = PixelSize(width: 1, height: 1)
        var file = GIFFile(dot, [0], palette: (0..<12).map { 9 + $0 })
        file.frames.append(
          GIFFile.Frame(size: dot, indices: [1], palette: [50, 60, 70, 80, 90, 99]))
        // Behind the end of its palette, where the one before has a colour.
        file.frames.append(
          GIFFile.Frame(size: dot, indices: [3], palette: [50, 60, 70, 80, 90, 99], codeSize: 2))
        func control(_ delay: UInt8) -> Data {
          GIFFile.block(0xF9, [Data([0, delay, 0, 0])])
        }
        func repeats(_ count: UInt8, by name: String = "ANIMEXTS1.0") -> Data {
          GIFFile.block(0xFF, [Data(name.utf8), Data([1, count, 0])])
        }
        file.frames[0].extensions = control(3) + repeats(4, by: "SOMETHING11")
        file.frames[1].extensions = control(3) + control(7) + repeats(2) + repeats(9)
        let header = try #require(try animation(of: file.data))
        #expect(
          header.frameDurations == [.milliseconds(30), .milliseconds(70), .milliseconds(100)])
        #expect(header.loopCount == 3)
        let colors = try frames(of: file.data).map { $0.pixel(0, 0) }
        #expect(colors == [[11, 10, 9, 255], [99, 90, 80, 255], [0, 0, 0, 255]])
      }
    #endif
  }
#endif
