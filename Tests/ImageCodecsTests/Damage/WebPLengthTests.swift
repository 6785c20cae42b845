#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  /// RFC 9649, section 2: chunks in a container that says how long it is.
  @Suite("A WebP file that is longer or shorter than it says", .timeLimit(.minutes(10)))
  struct WebPLengthTests {
    enum Kind: CaseIterable, Sendable { case even, odd, turned, animation, turnedAnimation }

    enum Change: Sendable {
      case none
      /// The container counts so many bytes more.
      case says(Int)
      case hasJunk(isCounted: Bool)
      case ends(lacking: Int)
      /// The file ends in the first frame, in eighths of its chunk, or before the chunk.
      case endsInFrame(eighths: Int)
      case endsBeforeFrame
      case endsBehindFrame
    }

    enum Outcome: Sendable { case whole, part, refused }

    static let rows: [(change: Change, outcomes: [Outcome])] = [
      (.none, [.whole, .whole, .whole, .whole, .whole]),
      (.says(1), [.whole, .whole, .whole, .whole, .whole]),
      (.says(7), [.whole, .whole, .whole, .whole, .whole]),
      (.says(8), [.whole, .whole, .whole, .whole, .whole]),
      (.says(1 << 30), [.whole, .whole, .whole, .whole, .whole]),
      // The turn stands behind the end that the container has, and other frames.
      (.says(-2), [.refused, .refused, .part, .whole, .part]),
      (.hasJunk(isCounted: true), [.whole, .whole, .whole, .whole, .whole]),
      (.hasJunk(isCounted: false), [.whole, .whole, .whole, .whole, .whole]),
      // Of the second one, a byte of padding.
      (.ends(lacking: 1), [.part, .whole, .part, .whole, .part]),
      (.ends(lacking: 2), [.part, .part, .part, .whole, .part]),
      (.endsBehindFrame, [.whole, .whole, .part, .whole, .part]),
      // libwebp gives no part of an animation's frame.
      (.endsInFrame(eighths: 7), [.part, .part, .part, .refused, .refused]),
      (.endsInFrame(eighths: 0), [.refused, .refused, .refused, .refused, .refused]),
      (.endsBeforeFrame, [.refused, .refused, .refused, .refused, .refused]),
    ]

    private static func image(height: Int) -> DrawnImage {
      DrawnImage(64, height) { x, y in ((x * y + x * 3) % 211, y * 4, (x * y) % 97 + 60, 255) }
    }

    private static let files = Dictionary(
      uniqueKeysWithValues: Kind.allCases.map { ($0, file($0)) })

    private static func file(_ kind: Kind) -> Data {
      let even = Fixture.webp(image(height: 48), isLossless: false)
      let lossless = (40..<60).lazy.map { Fixture.webp(image(height: $0)) }
      guard let odd = lossless.first(where: { $0[16] & 1 == 1 }), even[16] & 1 == 0 else {
        preconditionFailure("No length is odd, or none is even.")
      }
      let turn = Surgery.riffChunk("EXIF", Surgery.exif(orientation: 6))
      let frame = Surgery.webpFrame(even, x: 0, y: 0, width: 64, height: 48)
      let frames = Surgery.riffChunk("ANIM", Data(count: 6)) + frame + frame
      func extended(_ flags: UInt8, _ chunks: Data) -> Data {
        Surgery.extendedWebP(flags: flags, width: 64, height: 48, chunks)
      }
      return switch kind {
      case .even: even
      case .odd: odd
      case .turned: extended(0x08, Surgery.webpChunks(even) + turn)
      case .animation: extended(0x02, frames)
      case .turnedAnimation: extended(0x0A, frames + turn)
      }
    }

    private func apply(_ change: Change, to data: Data) throws -> Data {
      func saying(_ surplus: Int, _ data: Data) -> Data {
        let length = Surgery.littleEndian(data.count - 8 + surplus, bytes: 4)
        return Data(data.prefix(4) + length + data.dropFirst(8))
      }
      let names = ["ANMF", "VP8L", "VP8 "].map { Data($0.utf8) }
      let chunk = try #require(names.lazy.compactMap { data.range(of: $0) }.first).lowerBound
      let length = Int(data[chunk + 4]) | Int(data[chunk + 5]) << 8
      switch change {
      case .none: return data
      case .says(let surplus): return saying(surplus, data)
      case .hasJunk(true): return saying(0, data + Data(repeating: 0x55, count: 5))
      case .hasJunk(false): return data + Data(repeating: 0x55, count: 40)
      case .ends(let count): return Data(data.dropLast(count))
      case .endsInFrame(let eighths): return Data(data.prefix(chunk + 8 + length * eighths / 8))
      case .endsBeforeFrame: return Data(data.prefix(chunk))
      case .endsBehindFrame: return Data(data.prefix(chunk + 8 + length))
      }
    }

    @Test("is whole if it has the first frame and its turn", arguments: rows)
    func hasPart(change: Change, outcomes: [Outcome]) throws {
      for (kind, outcome) in zip(Kind.allCases, outcomes) {
        let data = try #require(Self.files[kind])
        let changed = try apply(change, to: data)
        let whole = try? decode(changed)
        var request = DecodeRequest()
        request.damagedImages = .showPart
        let shown = try? WebPDecoder().decode(changed, request)
        #expect((whole != nil) == (outcome == .whole), "\(kind)")
        #expect(shown.map(\.isDamaged) == (outcome == .refused ? nil : outcome == .part), "\(kind)")
        guard let whole else { continue }
        #expect(try whole.packedBytes == decode(data).packedBytes, "\(kind)")
        #expect(shown?.packedBytes == whole.packedBytes, "\(kind)")
        #expect(try header(of: changed).size == header(of: data).size, "\(kind)")
      }
    }

    @Test("is cut, and contradicts no format, wherever it ends in its first frame")
    func isTruncated() throws {
      for data in Self.files.values {
        let changes = (0...7).map { Change.endsInFrame(eighths: $0) } + [.endsBeforeFrame]
        for change in changes {
          let cut = try apply(change, to: data)
          #expect(throws: ImageDecodingError.truncated, "\(change)") { try decode(cut) }
        }
      }
    }

    @Test("has a part if its frame ends before the image inside")
    func hasShortFrame() throws {
      let frame = Surgery.webpFrame(
        try #require(Self.files[.even]), x: 0, y: 0, width: 64, height: 48)
      let place = try #require(frame.range(of: Data("VP8 ".utf8))).upperBound
      let length = Int(frame[place]) | Int(frame[place + 1]) << 8
      var short = frame
      short.replaceSubrange(place..<place + 4, with: Surgery.littleEndian(length + 20, bytes: 4))
      let frames = Surgery.riffChunk("ANIM", Data(count: 6)) + short + frame
      let data = Surgery.extendedWebP(flags: 0x02, width: 64, height: 48, frames)
      #expect(throws: ImageDecodingError.self) { try decode(data) }
      var request = DecodeRequest()
      request.damagedImages = .showPart
      #expect(try WebPDecoder().decode(data, request).isDamaged)
    }
  }
#endif
