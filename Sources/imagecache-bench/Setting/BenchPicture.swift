import FastImageCache
import Foundation

/// An entity with the id that a program would give it, a UUID, made from a number.
///
/// It keeps its ids, as the entities of a scrolling list do: making them is no part of a hit.
struct BenchPicture: ImageEntity {
  let imageID: ImageID
  let file: URL?

  private let words: (UInt64, UInt64)

  init(_ number: Int, file: URL? = nil) {
    var state = UInt64(truncatingIfNeeded: number)
    words = (Self.next(&state), Self.next(&state))
    imageID = ImageID(
      withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    self.file = file
  }

  /// The 16 bytes of the UUID, which is what peers find the picture by.
  var key: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

  func sourceID(for format: ImageFormat) -> ImageID { imageID }

  func sourceURL(for format: ImageFormat) -> URL? { file }

  /// Steele, Lea and Flood's generator: random enough for keys, and the same in every run.
  private static func next(_ state: inout UInt64) -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
