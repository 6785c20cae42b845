import Foundation
import Pixels
import Testing

@testable import ImageCodecs

@Suite("An encoded image's type", .timeLimit(.minutes(10)))
struct EncodedImageTypeTests {
  @Test(
    "is told by the first bytes",
    arguments: [
      (Data([0xFF, 0xD8, 0xFF, 0xE0]), EncodedImageType.jpeg),
      (Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), .png),
      (Data("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8), .webp),
      (Data("GIF87a".utf8), .gif), (Data("GIF89a".utf8), .gif),
      (Data("\0\0\0\u{18}ftypheic".utf8), .heif),
      (Data("\0\0\0\u{18}ftypavif".utf8), .avif),
      (Data([0x49, 0x49, 42, 0]), .tiff),
      (Data("BM".utf8) + Data(count: 12), .bmp),
      (Data([0, 0, 1, 0, 2, 0, 16, 16, 0, 0]) + Data(count: 12), .ico),
    ])
  func isTold(bytes: Data, type: EncodedImageType) {
    #expect(EncodedImageType(firstBytes: bytes) == type)
    // Slices keep the indices of what they were cut from.
    #expect(EncodedImageType(firstBytes: (Data([7, 7]) + bytes).dropFirst(2)) == type)
  }

  /// File type boxes: their brands, the major one first, and what they say.
  private static let boxes: [(brands: String, type: EncodedImageType)] = [
    ("heic\0\0\0\0", .heif), ("heix\0\0\0\0", .heif), ("hevx\0\0\0\0", .heif),
    ("avif\0\0\0\0", .avif), ("avis\0\0\0\0", .avif), ("heic\0\0\0\0mif1avif", .heif),
    // Brands that name no codec: the compatible ones do.
    ("mif1\0\0\0\0", .heif), ("mif1\0\0\0\0mif1avif", .avif),
    ("mif1\0\0\0\0mif1heic", .heif), ("msf1\0\0\0\0miafavis", .avif),
  ]

  @Test("is told by the brands of a file type box", arguments: boxes)
  func isToldByBrands(brands: String, type: EncodedImageType) {
    let box = Data([0, 0, 0, UInt8(8 + brands.utf8.count)]) + Data("ftyp\(brands)".utf8)
    #expect(EncodedImageType(firstBytes: box) == type)
    // A brand behind the box's end is none.
    #expect(EncodedImageType(firstBytes: box + Data("avif".utf8)) == type)
  }

  @Test(
    "is SVG where XML may begin with that element",
    arguments: [
      "<svg xmlns=", "\n <svg>", "\u{FEFF}<svg>", "<?xml version='1.0'?>\n<svg ",
      "<?xml version='1.0'?><!DOCTYPE svg PUBLIC", "<?xml version='1.0'?> <!-- by ",
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"      ?>\n",
    ])
  func isSVG(text: String) {
    #expect(EncodedImageType(firstBytes: Data(text.utf8)) == .svg)
  }

  @Test(
    "is unknown for what is no image",
    arguments: [
      "", "<!DOCTYPE html><html>", "RIFF\0\0\0\0WAVE", "<?xml version='1.0'?><Error>",
      "\0\0\0\u{18}ftypisom",
    ])
  func isUnknown(text: String) {
    #expect(EncodedImageType(firstBytes: Data(text.utf8)) == nil)
  }
}

@Suite("The standard decoders", .timeLimit(.minutes(10)))
struct StandardDecodersTests {
  #if !canImport(ImageIO)
    /// Of each type that needs a trait: its first bytes.
    private static let optional: [(type: EncodedImageType, bytes: Data)] = [
      (.gif, Data("GIF89a".utf8)),
      (.avif, Data("\0\0\0\u{18}ftypavif".utf8)),
      (.heif, Data("\0\0\0\u{18}ftypheic".utf8)),
      (.svg, Data("<svg>".utf8)),
      (.tiff, Data("II*\0".utf8)),
      (.bmp, Data("BM".utf8) + Data(count: 12)),
      (.ico, Data([0, 0, 1, 0, 2, 0, 16, 16, 0, 0]) + Data(count: 12)),
    ]

    /// The types whose traits these tests were built with.
    private static let enabled: [EncodedImageType] = {
      var types: [EncodedImageType] = []
      #if GIF
        types.append(.gif)
      #endif
      #if AVIF
        types.append(.avif)
      #endif
      #if HEIF
        types.append(.heif)
      #endif
      #if SVG
        types.append(.svg)
      #endif
      #if Pixbuf
        types += [.tiff, .bmp, .ico]
      #endif
      return types
    }()

    @Test("name the trait that a kind of image needs, where it is not enabled", arguments: optional)
    func nameTraits(type: EncodedImageType, bytes: Data) {
      let trait = [.tiff, .bmp, .ico].contains(type) ? "Pixbuf" : type.rawValue
      let text =
        "\(type.rawValue) images are not decoded here. "
        + "Enable the package trait \"\(trait)\"."
      do {
        #expect(try ImageDecoders.standard.decoder(for: bytes).recognizes(bytes))
      } catch {
        #expect(error == .unsupported(text) && !Self.enabled.contains(type))
      }
    }
  #endif
}
