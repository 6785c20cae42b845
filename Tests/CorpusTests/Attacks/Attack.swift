import Foundation

/// An entry for foreign bytes, with the rules that hold for any bytes.
///
/// An attack runs the code as the library does and checks the result. The fuzzer, or a sanitizer
/// under the tests, notices crashes, too much memory and too much time.
enum Attack: String, CaseIterable, Sendable {
  case table, original
  case jpeg, png, webp, gif, avif, heif, svg, pixbuf
  case pngFrames = "png-frames"
  case webpFrames = "webp-frames"
  case gifFrames = "gif-frames"
  case avifFrames = "avif-frames"
  case exif
  case dataURL = "data-url"
  case http, terms, arguments

  func run(on bytes: [UInt8]) throws {
    switch self {
    case .table: try TableAttack.run(on: bytes)
    case .original: try OriginalAttack.run(on: bytes)
    case .jpeg, .png, .webp, .gif, .avif, .heif, .svg, .pixbuf: try ImageAttack.run(on: bytes)
    case .pngFrames, .webpFrames, .gifFrames, .avifFrames: try FrameAttack.run(on: bytes)
    case .exif: try MetadataAttack.run(on: bytes)
    case .dataURL: try AddressAttack.run(on: bytes)
    case .http: try ExchangeAttack.run(on: bytes)
    case .terms: try TermsAttack.run(on: bytes)
    case .arguments: try ArgumentsAttack.run(on: bytes)
    }
  }

  /// Throws unless a rule holds.
  static func require(_ isKept: Bool, _ rule: @autoclosure () -> String) throws {
    if !isKept { throw BrokenRule(description: rule()) }
  }
}

/// A rule that an attack broke.
struct BrokenRule: Error, CustomStringConvertible {
  let description: String
}
