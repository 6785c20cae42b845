import FastImageCache
import Foundation
import ImageCodecs

/// Joins PNG files of one size and kind to an animated one; PNG, third edition, sections 4.9 and 11.3.6.
struct AnimatedPNG {
  private(set) var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
  /// Of control chunks and chunks of frames' pixels together.
  private var sequenceNumber: UInt32 = 0

  /// - Parameters:
  ///   - files: One for each frame. The first one's colours and metadata are the animation's.
  ///   - timeline: Durations are rounded to 0.1 ms, those above 6.5 s to coarser parts of a second.
  init(_ files: [Data], _ timeline: AnimationTimeline) {
    for (index, file) in files.enumerated() {
      let (chunks, duration) = (Self.chunks(of: file), timeline.frameDurations[index])
      guard let header = chunks.first?.content else { continue }
      var isControlled = false
      for chunk in chunks where index == 0 || chunk.name == "IDAT" {
        if chunk.name == "IEND" { continue }
        if chunk.name == "IDAT", !isControlled {
          if index == 0 {
            data.appendPNGChunk(
              "acTL", Self.bytes(UInt32(files.count), UInt32(timeline.loopCount ?? 0)))
          }
          appendNumbered("fcTL", header.prefix(8) + Data(count: 8) + Self.delay(duration) + [0, 0])
          isControlled = true
        }
        if index == 0 {
          data.appendPNGChunk(chunk.name, chunk.content)
        } else {
          appendNumbered("fdAT", chunk.content)
        }
      }
    }
    data.appendPNGChunk("IEND", Data())
  }

  private mutating func appendNumbered(_ name: String, _ content: Data) {
    data.appendPNGChunk(name, Self.bytes(sequenceNumber) + content)
    sequenceNumber += 1
  }

  /// The chunks of a PNG file that this program has encoded.
  private static func chunks(of file: Data) -> [(name: String, content: Data)] {
    var rest = file.dropFirst(8)
    var chunks: [(name: String, content: Data)] = []
    while rest.count >= 12 {
      let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      chunks.append((name, Data(rest.dropFirst(8).prefix(count))))
      rest = rest.dropFirst(count + 12)
    }
    return chunks
  }

  /// Numerator and denominator of a part of a second, two bytes each.
  private static func delay(_ duration: Duration) -> Data {
    for parts in [10_000, 1000, 100, 10] as [UInt16] {
      let count = (duration / .seconds(1) * Double(parts)).rounded()
      if count <= Double(UInt16.max) { return bytes(UInt16(count), parts) }
    }
    return bytes(UInt16(clamping: duration.components.seconds), 1)
  }

  private static func bytes<Number: FixedWidthInteger>(_ numbers: Number...) -> Data {
    numbers.reduce(into: Data()) { data, number in
      withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
    }
  }
}
