#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A watch over the scans of a JPEG file", .timeLimit(.minutes(10)))
  struct JPEGScanWatchTests {
    private typealias Found = (stage: PreviewStage, after: Int)

    private func jpeg(
      _ quality: Int32 = 75, sampling: (UInt32, UInt32) = (2, 2), isProgressive: Bool = true,
      components: Int = 3
    ) -> Data {
      let image = DrawnImage.slopes(240, 184)
      return Fixture.jpeg(
        image.size, components == 1 ? image.red : image.rgb,
        .init(
          isProgressive: isProgressive, sampling: (across: sampling.0, down: sampling.1),
          quality: quality))
    }

    /// The stages that are found when the bytes come one by one, and after how many bytes.
    private func stages(_ data: Data, settles: Bool = true) -> [Found] {
      var watch = JPEGScanWatch(settles: settles)
      return data.enumerated().compactMap { index, byte in
        watch.receive(Data([byte])).first { $0.kind == .frame }.map { ($0, index + 1) }
      }
    }

    @Test(
      "finds a stage as soon as the marker behind its scan is there, wherever the bytes are cut")
    func cuts() throws {
      let data = jpeg()
      let found = stages(data)
      try #require(found.count >= 2)
      #expect(found.allSatisfy { $0.after == $0.stage.byteCount + 2 })
      for cut in 0...data.count {
        var watch = JPEGScanWatch(settles: true)
        let (first, second) = (watch.receive(data[..<cut]), watch.receive(data[cut...]))
        #expect(first.count <= 1 && second.count <= 1)
        #expect(first.first == found.last { $0.after <= cut }?.stage, "cut at \(cut)")
        #expect(second.first == found.last { $0.after > cut }?.stage, "cut at \(cut)")
      }
    }

    @Test(
      "calls the scan settled after which an eighth of the size has the bytes of the whole file",
      arguments: [100, 90, 75, 50, 10], [[1, 1], [2, 1], [2, 2], [4, 1]] as [[UInt32]])
    func settles(quality: Int32, sampling: [UInt32]) throws {
      let data = jpeg(quality, sampling: (sampling[0], sampling[1]))
      let (full, eighth) = (PixelSize(width: 240, height: 184), PixelSize(width: 30, height: 23))
      let whole = try decode(data, atLeast: eighth)
      let decoder = JPEGDecoder()
      let found = stages(data).map(\.stage)
      try #require(!found.isEmpty)
      for stage in found {
        let bytes = Data(data.prefix(stage.byteCount))
        #expect(try decoder.header(of: bytes).size == full)
        _ = try decoder.decodePreview(bytes, at: stage, DecodeRequest())
        let preview = try decoder.decodePreview(
          bytes, at: stage, DecodeRequest(minimumSize: eighth)
        ).bitmap
        if stage.isSettled(preview.size, of: full) {
          #expect(preview.packedBytes == whole.packedBytes)
        }
        #expect(!stage.isSettled(PixelSize(width: 60, height: 46), of: full))
      }
      #expect(stages(data, settles: false).allSatisfy { $0.stage.settledReduction == nil })
    }

    @Test(
      "has means decoded at an eighth of the size, which is all that they show",
      arguments: [100, 50] as [Int32])
    func means(quality: Int32) throws {
      let data = jpeg(quality, sampling: (1, 1))
      let full = PixelSize(width: 240, height: 184)
      let found = stages(data).map(\.stage)
      let (first, last) = (try #require(found.first), try #require(found.last))
      let request = DecodeRequest(minimumSize: PixelSize(width: 100, height: 80))
      let decoder = JPEGDecoder()
      func preview(_ stage: PreviewStage) throws -> Bitmap {
        try decoder.decodePreview(Data(data.prefix(stage.byteCount)), at: stage, request).bitmap
      }
      let coarse = try preview(first)
      #expect(coarse.size == PixelSize(width: 30, height: 23))
      #expect(coarse.edges.fullSize == full && coarse.edges.width == 30)
      #expect(try preview(last).size == PixelSize(width: 120, height: 92))
      // Of the best quality an eighth of the size is known by then, and the wanted size is not.
      #expect((first.settledReduction == 8) == (quality == 100))
      #expect(first.isSettled(coarse.size, of: full) == (quality == 100))
      #expect(!request.isSettled(coarse, at: first, of: full))
      let eighth = DecodeRequest(minimumSize: coarse.size)
      #expect(eighth.isSettled(coarse, at: first, of: full) == (quality == 100))
    }

    @Test("reads tables of sixteen bits, and goes by those that a component's first scan has found")
    func tables() {
      func table(_ number: UInt8, of step: UInt8) -> [UInt8] {
        [0x10 | number] + (0..<64).flatMap { _ in [0, step] }
      }
      var frame = JPEGFrame()
      func takes(_ content: [UInt8], _ code: UInt8) -> Bool { frame.take(content, of: code) }
      #expect(!frame.hasMeans && !frame.isKnownAtAnEighth)
      #expect(takes(table(3, of: 1), 0xDB))
      #expect(!takes(table(4, of: 1), 0xDB))
      // 16 x 16 pixels of one component with the last table.
      #expect(takes([8, 0, 16, 0, 16, 1, 1, 0x11, 3], 0xC2))
      // Its means without their last three bits, which are seven steps: less than a level.
      #expect(takes([1, 1, 0, 0, 0, 3], JPEGFrame.scanCode))
      #expect(frame.hasMeans && frame.isKnownAtAnEighth)
      #expect(takes(table(3, of: 100), 0xDB))
      #expect(takes([1, 1, 0, 1, 5, 3], JPEGFrame.scanCode))
      #expect(frame.isKnownAtAnEighth)
    }

    @Test(
      "finds the scan at which the decoder stops", arguments: [100, 90, 75, 50, 10],
      [[1, 1], [2, 2]] as [[UInt32]])
    func agreesWithDecoder(quality: Int32, sampling: [UInt32]) throws {
      let data = jpeg(quality, sampling: (sampling[0], sampling[1]))
      let settled = stages(data).map(\.stage).first { $0.settledReduction == 8 }
      let ends = scanEnds(data)
      // The first scan behind which the decoder does not look at an eighth of the size.
      let stop = ends.first { end in
        // The scan behind it has a Huffman code that cannot be.
        guard let next = ends.first(where: { $0 > end }),
          let table = data[end..<next].range(of: Data([0xFF, 0xC4]))?.lowerBound
        else { return false }
        var damaged = data
        for index in (table + 5)..<(table + 21) { damaged[index] = 0xFF }
        return (try? decode(damaged, atLeast: PixelSize(width: 30, height: 23))) != nil
      }
      #expect(settled?.byteCount == stop)
      if quality >= 75 { #expect(stop != nil) }
    }

    /// The ends of all scans, by their markers: these files have no other ones inside segments.
    private func scanEnds(_ data: Data) -> [Int] {
      var starts: [Int] = []
      var place = data.startIndex
      while let next = data[place...].range(of: Data([0xFF, 0xDA])) {
        starts.append(next.lowerBound)
        place = next.upperBound
      }
      return starts.map { start in
        data.indices.first {
          $0 > start + 2 && data[$0] == 0xFF && $0 + 1 < data.count && data[$0 + 1] != 0
        } ?? data.count
      }
    }

    @Test("finds no frames in a file that is not progressive, but rows if its length is announced")
    func baseline() throws {
      let data = jpeg(isProgressive: false)
      #expect(stages(data).isEmpty)
      let start = try #require(data.range(of: Data([0xFF, 0xDA]))).lowerBound + 14
      let marks = [0.25, 0.5, 0.75].map { start + Int(Double(data.count - start) * $0) }
      for pieceByteCount in [1, 7, 500] {
        var watch = JPEGScanWatch(settles: true, of: data.count)
        var found: [PreviewStage] = []
        for start in stride(from: 0, to: data.count, by: pieceByteCount) {
          found += watch.receive(data[start..<min(start + pieceByteCount, data.count)])
        }
        let ends = marks.map { ($0 + pieceByteCount - 1) / pieceByteCount * pieceByteCount }
          .filter { $0 < data.count }
        #expect(found == Set(ends).sorted().map { PreviewStage(.rows, byteCount: $0) })
      }
    }

    @Test("finds no rows where each component has a scan of its own")
    func scanPerComponent() {
      let image = DrawnImage.slopes(240, 184)
      let data = Fixture.jpeg(image, .init(hasScanPerComponent: true))
      var watch = JPEGScanWatch(settles: true, of: data.count)
      #expect(data.allSatisfy { watch.receive(Data([$0])).isEmpty })
    }

    @Test("finds the end of a head with EXIF metadata, once", arguments: [false, true])
    func head(isProgressive: Bool) throws {
      let plain = jpeg(isProgressive: isProgressive)
      let data = Surgery.adding(
        exif: Surgery.exif(orientation: 1), toJPEG: Surgery.adding(segment: 0xE1, Data(), to: plain)
      )
      let scan = try #require(data.range(of: Data([0xFF, 0xDA])))
      let end = scan.upperBound + Int(data[scan.upperBound]) << 8 + Int(data[scan.upperBound + 1])
      for cut in 0...data.count {
        var watch = JPEGScanWatch(settles: true)
        let found = [watch.receive(data[..<cut]), watch.receive(data[cut...])]
        let heads = found.map { $0.filter { $0.kind == .embedded } }
        let stage = PreviewStage(.embedded, byteCount: end)
        #expect(heads == (cut >= end ? [[stage], []] : [[], [stage]]))
      }
      let other = Surgery.adding(segment: 0xE1, Data("http://ns.adobe.com/".utf8), to: plain)
      var watch = JPEGScanWatch(settles: true)
      #expect(!watch.receive(other).contains { $0.kind == .embedded })
    }

    @Test("finds nothing in a file that begins as none does")
    func otherFile() {
      #expect(stages(Data([0]) + jpeg()).isEmpty)
      #expect(stages(Data([0xFF, 0xD9]) + jpeg()).isEmpty)
    }

    @Test("does not look into a thumbnail")
    func thumbnail() {
      let data = jpeg()
      let thumbnail = Data("Exif\0\0".utf8) + jpeg(10)
      let found = stages(Surgery.adding(segment: 0xE1, thumbnail, to: data)).map(\.stage)
      let shift = thumbnail.count + 4
      #expect(found.map { $0.byteCount - shift } == Self.farApart(stages(data), shift))
    }

    /// The stages that are still twice as far as the one before when all are shifted.
    private static func farApart(_ found: [Found], _ shift: Int) -> [Int] {
      var last: PreviewStage?
      return found.compactMap { found in
        let isFar = last.map { found.stage.byteCount + shift >= 2 * ($0.byteCount + shift) } ?? true
        let becomesKnown = last?.settledReduction == nil && found.stage.settledReduction != nil
        guard isFar || becomesKnown else { return nil }
        last = found.stage
        return found.stage.byteCount
      }
    }

    // MARK: Files made by hand

    private static let start = Data([0xFF, 0xD8])
    private static let end = Data([0xFF, 0xD9])

    private static func frame(_ components: Int) -> Data {
      segment(
        0xC2,
        [8, 0, 64, 0, 64, UInt8(components)]
          + (0..<components).flatMap { [UInt8($0 + 1), 0x11, 0] as [UInt8] })
    }

    private static func segment(_ code: UInt8, _ content: [UInt8]) -> Data {
      Data([0xFF, code]) + Surgery.bigEndian(content.count + 2, bytes: 2) + Data(content)
    }

    /// A scan of so many bytes of data.
    private static func scan(
      _ components: [UInt8], from first: UInt8 = 0, to last: UInt8 = 0, missingBits: UInt8 = 0,
      byteCount: Int = 40
    ) -> Data {
      segment(
        0xDA,
        [UInt8(components.count)] + components.flatMap { [$0, 0] } + [first, last, missingBits])
        + Data(repeating: 0x55, count: byteCount)
    }

    private static let steps = segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))

    @Test("waits until each component has its means")
    func means() {
      let head = Self.start + Self.steps + Self.frame(3)
      let brightness = Self.scan([1]) + Self.scan([1], from: 1, to: 63)
      let data =
        head + brightness + Self.scan([2]) + Self.scan([3]) + Self.scan([2], from: 1, to: 9)
      let end = head.count + brightness.count + 2 * Self.scan([2]).count
      #expect(
        stages(data + Self.end).map(\.stage) == [
          PreviewStage(.frame, byteCount: end, settledReduction: 8)
        ])
    }

    @Test("finds few stages among 200 scans, and among many scans of 48 bytes")
    func manyScans() {
      for (scans, byteCount) in [(200, 500), (5000, 38)] {
        var data = Self.start + Self.steps + Self.frame(1) + Self.scan([1], missingBits: 13)
        let scan = Self.scan([1], from: 1, to: 63, missingBits: 1, byteCount: byteCount)
        for _ in 0..<scans { data += scan }
        let found = stages(data + Self.end).map(\.stage.byteCount)
        #expect((2...16).contains(found.count))
        #expect(zip(found, found.dropFirst()).allSatisfy { $1 >= 2 * $0 })
      }
    }

    @Test("passes over garbage between scans, and over restart markers and fill bytes")
    func garbage() {
      let head = Self.start + Self.steps + Self.frame(1)
      let scan = Self.scan([1]) + Data([0xFF, 0xD0, 0x55, 0xFF, 0, 0xFF, 0xFF, 0, 1])
      let comment = Self.segment(0xFE, [1, 2]) + Data(repeating: 7, count: 100)
      let fine = Self.scan([1], from: 1, to: 63, byteCount: 1000)
      let data = head + scan + Data([0xFF]) + comment + fine + comment + Self.end
      #expect(
        stages(data).map(\.stage.byteCount) == [
          head.count + scan.count, head.count + scan.count + 1 + comment.count + fine.count,
        ])
    }

    @Test("finds nothing behind segments that contradict each other")
    func contradictions() {
      let scans = Self.scan([1]) + Self.scan([1], from: 1, to: 63)
      let refused: [Data] = [
        Self.frame(1) + Self.frame(1), Self.frame(0), Self.frame(5), Self.segment(0xC2, [8, 0]),
        Self.segment(0xDB, [9]), Self.segment(0xDB, [0, 1]), Self.frame(1) + Self.scan([9]),
        Self.frame(1) + Self.scan([1], from: 9, to: 3), Self.frame(1) + Self.segment(0xDA, [4]),
        Self.frame(1) + Data([0xFF, 0xFE, 0, 1]), Self.frame(1) + Self.start,
        Self.segment(0xC2, [8, 0, 64, 0, 64, 1, 1, 0x01, 0]), Self.segment(0xDA, []),
      ]
      for segments in refused {
        #expect(stages(Self.start + segments + scans + Self.end).isEmpty)
      }
    }

    @Test("survives random damage, and finds no stage beyond the bytes that came")
    func survivesDamage() {
      let data = jpeg()
      var random = SplitMix64(state: 15)
      for _ in 0..<2000 {
        var bytes = data
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        var watch = JPEGScanWatch(settles: true)
        var (offset, last) = (0, 0)
        while offset < bytes.count {
          let count = min(Int.random(in: 1...3000, using: &random), bytes.count - offset)
          let stages = watch.receive(bytes[offset..<offset + count])
          offset += count
          guard let stage = stages.first else { continue }
          #expect(stage.byteCount > last && stage.byteCount <= offset)
          last = stage.byteCount
        }
      }
    }
  }
#endif
