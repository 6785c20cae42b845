import Foundation

/// The places of a JPEG file's metadata, found without touching the image.
///
/// ITU-T T.81 annex B: segments of a marker and a length follow each other up to the first scan.
struct JPEGSegments {
  /// Larger profiles are ignored.
  static let profileLimit = 4 << 20

  /// The first APP1 segment that holds EXIF, without marker and length.
  private(set) var exif: Range<Int>?

  /// The profile's pieces in the order of the file, each with its number.
  private var pieces: [(number: UInt8, of: UInt8, range: Range<Int>)] = []

  init(_ bytes: RawSpan) {
    var offset = 2
    while let marker = Self.marker(bytes, at: &offset), marker != 0xDA, marker != 0xD9 {
      // TEM and the restart markers stand alone.
      if marker == 0x01 || (0xD0...0xD8).contains(marker) { continue }
      guard let length = bytes.bigEndian16(at: offset), length >= 2,
        offset + length <= bytes.byteCount
      else { return }
      note(bytes, marker: marker, payload: offset + 2..<offset + length)
      offset += length
    }
  }

  /// Joins the profile's pieces; `nil` when there are none, one is missing or duplicated, or the
  /// profile is too large (ICC.1:2022, annex B.4).
  func profile(_ bytes: UnsafeRawBufferPointer) -> Data? {
    let sorted = pieces.sorted { $0.number < $1.number }
    let isComplete = sorted.indices.allSatisfy {
      Int(sorted[$0].number) == $0 + 1 && Int(sorted[$0].of) == sorted.count
    }
    let count = sorted.reduce(0) { $0 + $1.range.count }
    guard isComplete, count > 0, count <= Self.profileLimit else { return nil }
    var profile = Data(capacity: count)
    for piece in sorted { profile.append(contentsOf: bytes[piece.range]) }
    return profile
  }

  private mutating func note(_ bytes: RawSpan, marker: UInt8, payload: Range<Int>) {
    let start = payload.lowerBound
    if marker == 0xE1, exif == nil, payload.count > 6, bytes.has("Exif\0", at: start) {
      exif = payload
    } else if marker == 0xE2, payload.count > 14, bytes.has("ICC_PROFILE\0", at: start),
      let number = bytes.byte(at: start + 12), let of = bytes.byte(at: start + 13)
    {
      // A 256th piece could never be part of a whole; keeping it would only take memory.
      if pieces.count <= 255 { pieces.append((number, of, start + 14..<payload.upperBound)) }
    }
  }

  /// The next marker's code; any number of 0xFF may stand before it.
  private static func marker(_ bytes: RawSpan, at offset: inout Int) -> UInt8? {
    while let byte = bytes.byte(at: offset), byte != 0xFF { offset += 1 }
    while let byte = bytes.byte(at: offset), byte == 0xFF { offset += 1 }
    guard let code = bytes.byte(at: offset) else { return nil }
    offset += 1
    return code
  }
}
