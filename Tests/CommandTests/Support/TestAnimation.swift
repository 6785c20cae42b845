import FastImageCache
import Foundation
import ImageCodecs

/// An animated PNG file of opaque frames that a test makes by hand.
struct TestAnimation {
  private let files: [Data]
  private let milliseconds: [Int]
  private let loopCount: Int

  /// - Parameter seeds: One for each frame, as of ``TestImages/bitmap(_:seed:)``.
  init(_ size: PixelSize, seeds: [Int], milliseconds: [Int], loopCount: Int) throws {
    files = try seeds.map { try TestImages.bitmap(size, seed: $0).pngData() }
    (self.milliseconds, self.loopCount) = (milliseconds, loopCount)
  }

  func png() -> Data {
    var (file, number) = (files[0].prefix(33), 0)
    let size = files[0][16..<24]
    file += chunk("acTL", bytes(files.count, 4) + bytes(loopCount, 4))
    for (index, frame) in files.enumerated() {
      let control =
        size + bytes(0, 8) + bytes(milliseconds[index], 2) + bytes(1000, 2) + bytes(0, 2)
      file += chunk("fcTL", bytes(number, 4) + control)
      number += 1
      if index == 0 {
        file += chunk("IDAT", pixels(of: frame))
      } else {
        file += chunk("fdAT", bytes(number, 4) + pixels(of: frame))
        number += 1
      }
    }
    return file + chunk("IEND", Data())
  }

  /// The content of the one chunk of pixels.
  private func pixels(of file: Data) -> Data {
    guard let name = file.firstRange(of: Data("IDAT".utf8)) else { return Data() }
    let count = file[(name.lowerBound - 4)..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }
    return file[name.upperBound...].prefix(count)
  }

  private func chunk(_ name: String, _ content: Data) -> Data {
    var chunk = Data()
    chunk.appendPNGChunk(name, content)
    return chunk
  }

  private func bytes(_ number: Int, _ count: Int) -> Data {
    Data((0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
  }
}
