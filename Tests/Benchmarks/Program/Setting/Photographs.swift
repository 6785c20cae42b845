import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs

/// Images that decode as photographs do, drawn once and cut up.
final class Photographs {
  private var landscapes: [Int: Bitmap] = [:]

  /// The count of different landscapes; further images are other parts of them.
  private static let landscapeCount = 12

  private let landscapeSize: PixelSize

  init(_ effort: Effort) {
    landscapeSize = PixelSize(width: effort.landscape.width, height: effort.landscape.height)
  }

  /// A part of a landscape, another for each number.
  func part(_ number: Int, size: PixelSize) throws -> Bitmap {
    let source = try landscape(number % Self.landscapeCount)
    let layout = PixelLayout(for: size, format: .bgrx32)
    let turn = number / Self.landscapeCount
    let left = turn &* 37 % (source.size.width - size.width + 1)
    let top = turn &* 53 % (source.size.height - size.height + 1)
    return try Bitmap(layout: layout) { target in
      source.withUnsafeBytes { bytes in
        for row in 0..<size.height {
          let start = (top + row) * source.layout.rowBytes + left * 4
          UnsafeMutableRawBufferPointer(rebasing: target[(row * layout.rowBytes)...])
            .copyMemory(from: .init(rebasing: bytes[start..<(start + size.width * 4)]))
        }
      }
    }
  }

  /// Writes one landscape as a JPEG file of the quality at which cameras write.
  func writeFile(_ number: Int, size: PixelSize, to url: URL) throws {
    let bitmap = try Landscape(number: number).bitmap(size)
    try bitmap.jpegData(quality: 0.85).write(to: url)
  }

  /// Writes JPEG files of a few landscapes under as many names as are wanted.
  ///
  /// - Parameter name: The beginning of each file's name in `place`.
  func writeFiles(
    _ count: Int, size: PixelSize, named name: String, in place: URL
  ) throws -> [URL] {
    let files = (0..<count).map { place.appending(path: "\(name)-\($0).jpg") }
    for (number, file) in files.enumerated() {
      try Task.checkCancellation()
      if number < Self.landscapeCount {
        try writeFile(number, size: size, to: file)
      } else {
        try FileManager.default.linkItem(at: files[number % Self.landscapeCount], to: file)
      }
    }
    return files
  }

  private func landscape(_ number: Int) throws -> Bitmap {
    if let drawn = landscapes[number] { return drawn }
    let drawn = try Landscape(number: number).bitmap(landscapeSize)
    landscapes[number] = drawn
    return drawn
  }
}
