import Foundation

/// A way in for bytes that a stranger wrote, with the rules that hold whatever they are.
///
/// An attack runs the code as the library does and checks what comes of it. Crashing, taking too
/// much memory and taking too long are noticed by whoever runs it: the fuzzer, or a sanitizer under
/// the tests.
enum Attack: String, CaseIterable, Sendable {
  case table, jpeg, png, webp, exif
  case dataURL = "data-url"
  case http, arguments

  func run(on bytes: [UInt8]) throws {
    switch self {
    case .table: try TableAttack.run(on: bytes)
    case .jpeg, .png, .webp: try PictureAttack.run(on: bytes)
    case .exif: try MetadataAttack.run(on: bytes)
    case .dataURL: try AddressAttack.run(on: bytes)
    case .http: try ExchangeAttack.run(on: bytes)
    case .arguments: try ArgumentsAttack.run(on: bytes)
    }
  }

  /// Throws unless a rule holds.
  static func require(_ isKept: Bool, _ rule: @autoclosure () -> String) throws {
    if !isKept { throw BrokenRule(description: rule()) }
  }
}

/// What an attack found.
struct BrokenRule: Error, CustomStringConvertible {
  let description: String
}
