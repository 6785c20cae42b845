import Foundation
import Pixels
import Testing

@testable import ImageCodecs

@Suite("An encoded picture's type", .timeLimit(.minutes(10)))
struct EncodedImageTypeTests {
  @Test(
    "is told by the first bytes",
    arguments: [
      (Data([0xFF, 0xD8, 0xFF, 0xE0]), EncodedImageType.jpeg),
      (Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), .png),
      (Data("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8), .webp),
      (Data("GIF89a".utf8), .gif),
      (Data("\0\0\0\u{18}ftypheic".utf8), .heif),
      (Data("\0\0\0\u{18}ftypavif".utf8), .avif),
      (Data([0x49, 0x49, 42, 0]), .tiff),
      (Data("BM".utf8) + Data(count: 12), .bmp),
    ])
  func isTold(bytes: Data, type: EncodedImageType) {
    #expect(EncodedImageType(firstBytes: bytes) == type)
    // Slices keep the indices of what they were cut from.
    #expect(EncodedImageType(firstBytes: (Data([7, 7]) + bytes).dropFirst(2)) == type)
  }

  @Test(
    "is unknown for what is no picture",
    arguments: [
      "", "<!DOCTYPE html><html>", "<svg xmlns=", "%PDF-1.7", "RIFF\0\0\0\0WAVE",
      "\0\0\0\u{18}ftypisom",
    ])
  func isUnknown(text: String) {
    #expect(EncodedImageType(firstBytes: Data(text.utf8)) == nil)
  }
}

@Suite("The standard decoders", .timeLimit(.minutes(10)))
struct StandardDecodersTests {
  @Test("say which known kind they do not decode")
  func nameKinds() {
    #expect(throws: ImageDecodingError.unsupported("GIF pictures are not decoded here.")) {
      try ImageDecoders.standard.decoder(for: Data("GIF89a".utf8))
    }
  }

  @Test("refuse what is no picture")
  func refuseOthers() {
    #expect(throws: ImageDecodingError.unknownType) {
      try ImageDecoders.standard.decoder(for: Data("<html>".utf8))
    }
    #expect(throws: ImageDecodingError.truncated) {
      try ImageDecoders.standard.decoder(for: Data())
    }
  }

  @Test("are asked in order, so that a user's own comes first")
  func areAskedInOrder() throws {
    struct Greedy: ImageDecoder {
      func recognizes(_ firstBytes: Data) -> Bool { firstBytes.first == 0xFF }
      func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
        ImageHeader(size: PixelSize(width: 7, height: 3))
      }
      func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
        throw .cancelled
      }
    }
    let decoders = [Greedy()] + ImageDecoders.standard
    let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0])
    #expect(try decoders.decoder(for: jpeg) is Greedy)
    #expect(try !(decoders.reversed().decoder(for: jpeg) is Greedy))
    #expect(try Greedy().workingByteCount(for: Greedy().header(of: jpeg), minimumSize: nil) == 84)
  }
}
