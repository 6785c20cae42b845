import Foundation
import Pixels
import Testing

@testable import ImageCodecs

@Suite("CoreGraphics' side of PDF", .timeLimit(.minutes(10)))
struct PDFTests {
  /// A page of 40 x 20 points at (10, 5), whose lower left quarter is red.
  private static func document(_ page: String = "", _ trailer: String = "") -> Data {
    Data(
      """
      %PDF-1.4
      1 0 obj << /Type /Page /MediaBox [0 0 99 99] /CropBox [10 5 50 25] \(page) /Contents 2 0 R >>
      2 0 obj
      stream
      1 0 0 rg 10 5 20 10 re f
      endstream
      trailer << \(trailer) >>
      %%EOF
      """.utf8)
  }

  private static func decode(
    _ data: Data, _ size: PixelSize, _ change: (inout DecodeRequest) -> Void = { _ in }
  ) throws -> Bitmap {
    var request = DecodeRequest(minimumSize: size)
    change(&request)
    return try [ImageDecoders.pdf].decoder(for: data).decode(data, request)
  }

  @Test(
    "draws the first page upright on white at the size that is wanted",
    arguments: [
      ("", 1, false), ("/Rotate 90", 0, true), ("/Rotate 180", 2, false), ("/Rotate -90", 3, true),
    ])
  func draws(page: String, quarter: Int, isTurned: Bool) throws {
    let size = PixelSize(width: isTurned ? 100 : 200, height: isTurned ? 200 : 100)
    let document = Self.document(page)
    let header = try ImageDecoders.pdf.header(of: document)
    #expect(header.size == PixelSize(width: isTurned ? 1024 : 2048, height: isTurned ? 2048 : 1024))
    let bitmap = try Self.decode(document, size)
    #expect(bitmap.size == size && bitmap.layout.format == .bgrx32)
    // Quarters of the image: upper left, lower left, upper right, lower right.
    let red = (0..<4).filter { index in
      let (x, y) = (size.width * (index / 2 * 2 + 1) / 4, size.height * (index % 2 * 2 + 1) / 4)
      return bitmap.pixel(x, y) != [255, 255, 255, 255]
    }
    #expect(red == [quarter])
  }

  @Test("holds to the limits, and refuses what is locked or no document")
  func refuses() throws {
    let size = PixelSize(width: 200, height: 100)
    #expect(throws: ImageDecodingError.unsupported("PDF: a password is needed.")) {
      try Self.decode(Self.document("", "/Encrypt 9 0 R"), size)
    }
    #expect(throws: ImageDecodingError.self) {
      try Self.decode(Self.document(), size) { $0.limits.workingByteCount = 200 * 100 * 4 }
    }
    #expect(throws: ImageDecodingError.self) { try Self.decode(Data("%PDF-1.4".utf8), size) }
    #expect(throws: ImageDecodingError.unsupported("PDF images are not decoded here.")) {
      try ImageDecoders.standard.decoder(for: Self.document())
    }
  }
}
