import CommandSupport
import FastImageCache
import Foundation
import ImageDrawing

/// Parts of photographs at odd sizes, as JPEG files of 90 % quality.
struct PhotographCorpus: CustomStringConvertible {
  /// One image of the corpus.
  struct Part {
    /// `nil` for a drawn landscape.
    let photograph: URL?
    let size: PixelSize

    var name: String {
      "\(photograph?.deletingPathExtension().lastPathComponent ?? "landscape"), \(size)"
    }
  }

  static let folder = URL(filePath: "/usr/share/backgrounds")

  /// Sides that the scales of decoders do not divide, a size that they do, and panoramas.
  private static let sizes = [
    (1365, 1074), (2560, 3837), (1601, 1203), (3993, 2995), (3967, 2963), (801, 601), (3989, 2243),
    (3001, 1001),
    (1001, 1499), (2047, 1363), (800, 600), (1283, 1919), (4001, 1333), (2879, 1621),
  ].map { PixelSize(width: $0.0, height: $0.1) }

  private static let partCount = 3

  let parts: [Part]

  /// - Parameter effort: A quick run draws small landscapes, since photographs take seconds.
  init(_ effort: Effort) {
    let photographs = effort.readsPhotographs ? Self.photographs() : []
    let found = photographs.enumerated().flatMap { number, photograph in
      let fitting = Self.sizes.indices.map { Self.sizes[($0 + 4 * number) % Self.sizes.count] }
        .filter { $0.width <= photograph.size.width && $0.height <= photograph.size.height }
      return fitting.prefix(Self.partCount).map { Part(photograph: photograph.file, size: $0) }
    }
    let size = effort.usualPhotograph
    let drawn = [
      PixelSize(width: size.width - 1, height: size.height - 1), PixelSize(width: 401, height: 299),
    ]
    parts = found.isEmpty ? drawn.map { Part(photograph: nil, size: $0) } : found
  }

  var description: String {
    parts.contains { $0.photograph == nil } ? "drawn landscapes" : "\(parts.count) photographs"
  }

  /// The file of a part: the photograph's middle, never enlarged.
  func data(of part: Part) throws -> Data {
    guard let photograph = part.photograph else {
      return try Landscape(number: 1).bitmap(part.size).jpegData(quality: 0.9)
    }
    let whole = try Bitmap(contentsOf: photograph)
    let layout = PixelLayout(for: part.size, format: .bgrx32)
    return try Bitmap(layout: layout) { bytes in
      try Drawing.aspectFill.draw(
        whole, into: bytes, layout: layout, scale: 1, upTo: false, isCancelled: { false })
    }.jpegData(quality: 0.9)
  }

  /// The photographs themselves, as their files are, or the drawn images.
  func wholeFiles() throws -> [Data] {
    var files: [URL] = []
    for part in parts {
      if let file = part.photograph, !files.contains(file) { files.append(file) }
    }
    return files.isEmpty ? try parts.map(data) : try files.map { try Data(contentsOf: $0) }
  }

  /// The JPEG photographs of the folder, by name, with their sizes.
  private static func photographs() -> [(file: URL, size: PixelSize)] {
    // Without the folder there are no photographs, and the corpus is drawn.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".jpg") }.sorted().compactMap { name in
      let file = folder.appending(path: name)
      // A file that is no image is no part of the corpus.
      guard let data = try? Data(contentsOf: file),
        let header = try? ImageDecoders.standard.decoder(for: data).header(of: data)
      else { return nil }
      return (file, header.size)
    }
  }
}
