import CommandSupport
import FastImageCache
import Foundation

/// An entity with the id that a program would give it, a UUID, made from a number.
///
/// It keeps its ids, as the entities of a scrolling list do: making them is no part of a hit.
struct BenchImage: ImageEntity {
  let imageID: ImageID
  let file: URL?

  private let words: (UInt64, UInt64)

  init(_ number: Int, file: URL? = nil) {
    var numbers = SeededNumbers(seed: UInt64(truncatingIfNeeded: number))
    words = (numbers.next(), numbers.next())
    imageID = ImageID(
      withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    self.file = file
  }

  /// The 16 bytes of the UUID, the key of the image at the peers.
  var key: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

  func versionID(for format: ImageFormat) -> ImageID { imageID }

  func sourceURL(for format: ImageFormat) -> URL? { file }
}
