#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Synchronization
  import TestSupport
  import Testing

  @testable import ImageCodecs

  /// An animation that tests encode by hand, and that a naive program composes.
  struct AnimatedFile {
    enum Kind: String, CaseIterable, Sendable {
      case webp, png
      #if GIF
        case gif
      #endif
    }

    struct Frame {
      var x = 0
      var y = 0
      var image: DrawnImage
      var milliseconds = 100
      var disposal = StoredFrame.Disposal.keep
      var isBlended = true
    }

    var canvas: PixelSize
    var frames: [Frame]
    /// 0 for ever.
    var plays = 0

    func data(_ kind: Kind) -> Data {
      switch kind {
      case .webp: webp()
      case .png: png()
      #if GIF
        case .gif: gif()
      #endif
      }
    }

    /// - Parameter end: What follows all frames.
    func webp(flags: UInt8 = 0x12, profile: Data? = nil, end: Data = Data()) -> Data {
      let head =
        (profile.map { Surgery.riffChunk("ICCP", $0) } ?? Data())
        + Surgery.riffChunk("ANIM", Data(count: 4) + Surgery.littleEndian(plays, bytes: 2))
      let chunks = frames.reduce(head) { $0 + Self.webpFrame($1) } + end
      return Surgery.extendedWebP(
        flags: flags, width: canvas.width, height: canvas.height, chunks)
    }

    static func webpFrame(_ frame: Frame) -> Data {
      Surgery.webpFrame(
        Fixture.webp(frame.image), x: frame.x, y: frame.y, width: frame.image.size.width,
        height: frame.image.size.height, milliseconds: frame.milliseconds,
        flags: (frame.disposal == .clear ? 1 : 0) | (frame.isBlended ? 0 : 2))
    }

    /// - Parameters:
    ///   - hidden: An image before the animation, which is no frame of it.
    ///   - announced: The number of frames that is announced; the right one if `nil`.
    ///   - chunks: Changes the chunks of frames.
    ///   - encode: Makes a PNG of a frame's image, with one palette for all.
    func png(
      hidden: DrawnImage? = nil, announced: Int? = nil, head: Data = Data(),
      chunks change: ([Data]) -> [Data] = { $0 },
      encode: (DrawnImage) -> Data = { Fixture.png($0.size, $0.rgba) }
    ) -> Data {
      var chunks: [Data] = []
      var number = 0
      func add(_ name: String, _ content: Data) {
        chunks.append(Surgery.pngChunk(name, Surgery.bigEndian(number, bytes: 4) + content))
        number += 1
      }
      let first = encode(hidden ?? frames[0].image)
      let image = Surgery.pngChunk("IDAT", Surgery.pixels(ofPNG: first))
      if hidden != nil { chunks.append(image) }
      for (index, frame) in frames.enumerated() {
        add("fcTL", Self.control(frame))
        if index == 0, hidden == nil {
          chunks.append(image)
        } else {
          let pixels = Surgery.pixels(ofPNG: encode(frame.image))
          // In two pieces, as encoders may store it.
          add("fdAT", Data(pixels.prefix(9)))
          add("fdAT", Data(pixels.dropFirst(9)))
        }
      }
      let animation = Surgery.pngChunk(
        "acTL",
        Surgery.bigEndian(announced ?? frames.count, bytes: 4)
          + Surgery.bigEndian(plays, bytes: 4))
      guard let pixels = first.range(of: Data("IDAT".utf8)) else { return Data() }
      return first[..<(pixels.lowerBound - 4)] + head + animation
        + change(chunks).reduce(Data(), +) + Surgery.pngChunk("IEND", Data())
    }

    /// The content of a frame's chunk without its number.
    static func control(_ frame: Frame) -> Data {
      let size = frame.image.size
      let numbers = [size.width, size.height, frame.x, frame.y].reduce(Data()) {
        $0 + Surgery.bigEndian($1, bytes: 4)
      }
      let disposal: UInt8 =
        switch frame.disposal {
        case .keep: 0
        case .clear: 1
        case .restore: 2
        }
      return numbers + Surgery.bigEndian(frame.milliseconds, bytes: 2)
        + Surgery.bigEndian(1000, bytes: 2) + Data([disposal, frame.isBlended ? 1 : 0])
    }

    /// - Parameter repeats: The number in the file; `nil` for none.
    func gif(repeats: Int? = 0) -> Data {
      var file = GIFFile(canvas, [], palette: Self.palette)
      file.frames = frames.map { frame in
        let colors = frame.image.rgba
        let indices = stride(from: 0, to: colors.count, by: 4).map { (offset: Int) -> UInt8 in
          if colors[offset + 3] == 0 { return 255 }
          return colors[offset] / 16 * 16 + colors[offset + 1] / 16
        }
        let disposal: UInt8 =
          switch frame.disposal {
          case .keep: 1
          case .clear: 2
          case .restore: 3
          }
        let delay = Surgery.littleEndian(frame.milliseconds / 10, bytes: 2)
        let flags = disposal << 2 | (frame.isBlended ? 1 : 0)
        return GIFFile.Frame(
          x: frame.x, y: frame.y, size: frame.image.size, indices: indices,
          extensions: GIFFile.block(0xF9, [Data([flags]) + delay + Data([255])]))
      }
      if let repeats {
        let loops = GIFFile.block(
          0xFF, [Data("NETSCAPE2.0".utf8), Data([1]) + Surgery.littleEndian(repeats, bytes: 2)])
        file.frames[0].extensions = loops + file.frames[0].extensions
      }
      return file.data
    }

    /// Sixteen levels of red times sixteen of green.
    static let palette = (0..<256).flatMap { (index: Int) -> [UInt8] in
      [UInt8(index / 16 * 16), UInt8(index % 16 * 16), 7]
    }

    /// What each frame shows, by the words of the formats: blue, green, red multiplied by alpha, alpha.
    var composed: [[UInt8]] {
      var canvas = [Int](repeating: 0, count: self.canvas.width * self.canvas.height * 4)
      return frames.map { frame in
        let before = canvas
        let source = frame.image.premultipliedBGRA.map(Int.init)
        let size = frame.image.size
        func forEachPixel(_ body: (_ source: Int, _ target: Int) -> Void) {
          for y in 0..<size.height where y + frame.y < self.canvas.height {
            for x in 0..<size.width where x + frame.x < self.canvas.width {
              body(
                (y * size.width + x) * 4, ((y + frame.y) * self.canvas.width + x + frame.x) * 4)
            }
          }
        }
        forEachPixel { from, to in
          let rest = frame.isBlended ? 255 - source[from + 3] : 0
          for channel in 0..<4 {
            let below = (Double(canvas[to + channel] * rest) / 255).rounded()
            canvas[to + channel] = source[from + channel] + Int(below)
          }
        }
        let shown = canvas.map { UInt8($0) }
        switch frame.disposal {
        case .keep: break
        case .clear: forEachPixel { _, to in for channel in 0..<4 { canvas[to + channel] = 0 } }
        case .restore: canvas = before
        }
        return shown
      }
    }

    /// Frames anywhere on a small canvas, as a kind of file can have them.
    static func random(_ kind: Kind, seed: Int) -> AnimatedFile {
      var random = SplitMix64(state: UInt64(seed))
      let canvas = PixelSize(
        width: .random(in: 1...24, using: &random), height: .random(in: 1...18, using: &random))
      let step = kind == .webp ? 2 : 1
      let frames = (0..<Int.random(in: 2...7, using: &random)).map { index in
        func range(_ side: Int) -> (start: Int, count: Int) {
          if index == 0 && kind == .png || Int.random(in: 0..<4, using: &random) == 0 {
            return (0, side)
          }
          let start = Int.random(in: 0..<side, using: &random) / step * step
          return (start, Int.random(in: 1...side - start, using: &random))
        }
        let ((x, width), (y, height)) = (range(canvas.width), range(canvas.height))
        // Now and then without transparency, and with few levels of it.
        let alphas =
          [[255], [0, 255], [0, 60, 128, 200, 255]].randomElement(using: &random) ?? []
        let isGIF = kind != .webp && kind != .png
        let photo = DrawnImage(width, height) { _, _ in
          let alpha = alphas.randomElement(using: &random) ?? 0
          let levels = (0..<3).map { _ in Int.random(in: 0...15, using: &random) * 16 }
          if isGIF { return (levels[0], min(levels[1], 224), 7, alpha < 128 ? 0 : 255) }
          return (levels[0], levels[1], levels[2], alpha)
        }
        let disposals: [StoredFrame.Disposal] =
          kind == .webp ? [.keep, .clear] : [.keep, .clear, .restore]
        return Frame(
          x: x, y: y, image: photo, milliseconds: .random(in: 2...300, using: &random) * 10,
          disposal: disposals.randomElement(using: &random) ?? .keep,
          isBlended: isGIF || Bool.random(using: &random))
      }
      return AnimatedFile(
        canvas: canvas, frames: frames, plays: Int.random(in: 0...3, using: &random))
    }
  }

  func animation(
    of data: Data, limits: DecodingLimits = DecodingLimits()
  ) throws(ImageDecodingError) -> AnimationHeader? {
    let decoder = try ImageDecoders.standard.decoder(for: data) as? any AnimationDecoder
    return try decoder?.animation(of: data, within: limits)
  }

  /// Reads all frames.
  func frames(
    of data: Data, limits: DecodingLimits = DecodingLimits(),
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(ImageDecodingError) -> [Bitmap] {
    guard let decoder = try ImageDecoders.standard.decoder(for: data) as? any AnimationDecoder
    else { return [] }
    let reader = try decoder.frames(
      of: data, DecodeRequest(limits: limits, isCancelled: isCancelled))
    var frames: [Bitmap] = []
    while let frame = try reader.next() { frames.append(frame) }
    return frames
  }

  /// Cancels the reading of all frames at each of its questions in turn.
  ///
  /// - Parameter least: How often it asks at least.
  func expectCancellation(of data: Data, atLeast least: Int) throws {
    let asked = Mutex(0)
    _ = try frames(of: data) {
      asked.withLock { $0 += 1 }
      return false
    }
    let count = asked.withLock { $0 }
    #expect(count >= least)
    for limit in 0..<count {
      let left = Mutex(limit)
      #expect(throws: ImageDecodingError.cancelled) {
        try frames(of: data) {
          left.withLock {
            $0 -= 1
            return $0 < 0
          }
        }
      }
    }
  }
#endif
