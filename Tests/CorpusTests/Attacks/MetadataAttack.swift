import Foundation
import Pixels

@testable import ImageCodecs

/// Reads metadata without any decoder: orientation, thumbnails, profiles, chunks.
enum MetadataAttack {
  static func run(on bytes: [UInt8]) throws {
    let (profileByteCount, ranges) = bytes.withUnsafeBytes { buffer in
      let span = buffer.bytes
      _ = Orientation(exif: span, in: 0..<bytes.count)
      let segments = JPEGSegments(span)
      _ = Orientation(exif: span, in: segments.exif)
      // A file that is no PNG is refused here, and no rule is left to check.
      let chunks = try? PNGChunks(span)
      _ = Orientation(exif: span, in: chunks?.exif)
      let thumbnails = [0..<bytes.count, segments.exif, chunks?.exif].map {
        ExifBlock(span, in: $0)?.thumbnail(span)
      }
      return (segments.profile(buffer)?.count ?? 0, [segments.exif, chunks?.exif] + thumbnails)
    }
    try Attack.require(
      profileByteCount <= min(JPEGSegments.profileLimit, bytes.count),
      "A profile of \(profileByteCount) bytes out of \(bytes.count)")
    let chunks = bytes.withUnsafeBytes { try? PNGChunks($0.bytes) }
    for place in [chunks?.profile, chunks?.palette, chunks?.transparency, chunks?.pixels] {
      try Attack.require((place ?? 0) + 8 <= max(bytes.count, 8), "a chunk at \(place ?? 0)")
    }
    for range in ranges.compactMap(\.self) {
      try Attack.require(range.upperBound <= bytes.count, "metadata at \(range) of \(bytes.count)")
    }
  }
}
