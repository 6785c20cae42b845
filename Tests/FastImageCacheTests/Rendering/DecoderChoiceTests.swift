import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("The cache's choice of a decoder", .timeLimit(.minutes(10)))
struct DecoderChoiceTests {
  private let order = Order()

  /// Recognises everything, notes what it is asked, and gives images of one colour.
  private struct Noting: ImageDecoder {
    let number: Int
    let order: Order
    var size = PixelSize(width: 16, height: 16)
    var recognized = "any"

    func recognizes(_ firstBytes: Data) -> Bool {
      order.note("\(number) recognizes \(firstBytes.count)")
      return recognized == "any" || firstBytes.starts(with: Data(recognized.utf8))
    }

    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      order.note("\(number) header")
      return ImageHeader(size: size)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      order.note("\(number) decode")
      do { return try solid(number) } catch { throw .outOfMemory }
    }
  }

  private func fixture(
    _ decoders: [any ImageDecoder], _ change: (inout DecodingLimits) -> Void = { _ in }
  ) async throws -> Fixture {
    try await Fixture { configuration in
      configuration.decoders = decoders
      change(&configuration.limits)
    }
  }

  private func store(_ data: Data, in fixture: Fixture) async throws -> CachedImage {
    try await fixture.cache.store(data, for: Photo("a"), format: .row)
  }

  @Test("falls on the first that recognises the bytes")
  func takesFirst() async throws {
    let fixture = try await fixture([
      Noting(number: 1, order: order, recognized: "no"), Noting(number: 2, order: order),
      Noting(number: 3, order: order),
    ])
    #expect(try await store(Data(count: 70), in: fixture).solidNumber == 2)
    #expect(order.notes == ["1 recognizes 64", "2 recognizes 64", "2 header", "2 decode"])
  }

  #if Pixbuf
    private static let unreadTIFF = ImageDecodingError.truncated
  #else
    private static let unreadTIFF = ImageDecodingError.unsupported(
      "TIFF images are not decoded here. Enable the package trait \"Pixbuf\".")
  #endif

  @Test(
    "ends with the reason that a user can act upon",
    arguments: [
      ("II*\0", unreadTIFF), ("<html>", .unknownType), ("", .truncated),
    ])
  func namesReasons(text: String, expected: ImageDecodingError) async throws {
    let fixture = try await fixture(ImageDecoders.standard)
    await #expect(throws: ImageCacheError.undecodable(nil, reason: expected)) {
      try await store(Data(text.utf8), in: fixture)
    }
  }

  @Test("comes after the limit on the file's length")
  func checksLength() async throws {
    let fixture = try await fixture([Noting(number: 1, order: order)]) { $0.encodedByteCount = 10 }
    await #expect(throws: ImageCacheError.self) { try await store(Data(count: 11), in: fixture) }
    #expect(order.notes == [])
    #expect(try await store(Data(count: 10), in: fixture).solidNumber == 1)
  }

  @Test("ends in an error for headers that no image has", arguments: [0, -1, .max])
  func refusesSides(side: Int) async throws {
    let odd = Noting(number: 1, order: order, size: PixelSize(width: side, height: 10))
    let fixture = try await fixture([odd])
    var photo = Photo("a")
    for drawing in [Drawing.stretch, .aspectFill, .aspectFit] {
      photo.drawing = drawing
      await #expect(throws: ImageCacheError.self) {
        _ = try await fixture.cache.store(Data(count: 10), for: photo, format: .row)
      }
    }
    #expect(!order.notes.contains("1 decode"))
  }

  @Test("lets no decoder decode what its own header puts beyond the limits")
  func checksHeader() async throws {
    let huge = Noting(number: 1, order: order, size: PixelSize(width: 100, height: 40))
    for change in [
      { $0.sideLength = 99 }, { $0.pixelCount = 3999 }, { $0.workingByteCount = 15_999 },
    ]
      as [(inout DecodingLimits) -> Void]
    {
      let fixture = try await fixture([huge], change)
      await #expect {
        try await store(Data(count: 10), in: fixture)
      } throws: {
        if case .imageTooLarge? = $0 as? ImageCacheError { true } else { false }
      }
    }
    #expect(!order.notes.contains("1 decode"))
  }
}
