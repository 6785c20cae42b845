import Pixels
import Testing

@Suite("A bitmap", .timeLimit(.minutes(10)))
struct BitmapTests {
  private let layout = PixelLayout(
    size: PixelSize(width: 2, height: 2), format: .gray8, rowBytes: 2)!

  @Test("keeps a copy of the bytes given")
  func copiesBytes() throws {
    var bytes: [UInt8] = [1, 2, 3, 4, 99]
    let bitmap = try Bitmap(copying: bytes, layout: layout)
    bytes[0] = 200
    let kept = bitmap.withPixels { span in
      (0..<4).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
    #expect(kept == [1, 2, 3, 4])
  }

  @Test("has the colours of rows divided by alpha, at most white, and black without alpha")
  func divides() {
    var row: [UInt8] = [50, 100, 200, 100, 7, 7, 7, 0, 1, 2, 3, 255]
    row.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { PixelRows.divideByAlpha($0, count: 3) }
    }
    #expect(row == [128, 255, 255, 100, 0, 0, 0, 0, 1, 2, 3, 255])
  }

  @Test("of a size gets the rows that tables have")
  func laysOutRows() throws {
    let size = PixelSize(width: 17, height: 2)
    let bitmap = try Bitmap(size: size, format: .bgra32) { bytes, layout in
      #expect(bytes.count == layout.byteCount)
      bytes[layout.rowBytes] = 9
    }
    #expect(bitmap.layout == PixelLayout(size: size, format: .bgra32))
    #expect(bitmap.withPixels { $0.unsafeLoad(fromByteOffset: 128, as: UInt8.self) } == 9)
    for format in PixelFormat.allCases {
      let layout = try Bitmap(size: size, format: format) { _, _ in }.layout
      #expect(layout == PixelLayout(size: size, format: format))
    }
    #expect(throws: BitmapError.invalidSize(PixelSize(width: 0, height: 1))) {
      try Bitmap(size: PixelSize(width: 0, height: 1), format: .gray8) { _, _ in }
    }
  }

  @Test("refuses fewer bytes than its rows need")
  func refusesShortBuffers() {
    #expect(throws: BitmapError.tooFewBytes(3, needed: 4)) {
      try Bitmap(copying: [1, 2, 3] as [UInt8], layout: layout)
    }
  }

  @Test("reports memory that cannot be had instead of ending the process")
  func reportsMissingMemory() throws {
    let huge = try #require(
      PixelLayout(size: PixelSize(width: 1 << 29, height: 1 << 29), format: .bgra32))
    #expect(throws: BitmapError.outOfMemory(byteCount: huge.byteCount)) {
      try Bitmap(layout: huge) { _ in }
    }
  }
}
