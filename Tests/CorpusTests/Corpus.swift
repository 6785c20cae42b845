import Foundation
import TestSupport

/// One file below `Tests/Corpora`.
struct CorpusFile: Sendable, CustomStringConvertible {
  let description: String
  let bytes: Data

  /// What follows the last full stop of the name.
  var suffix: String { description.split(separator: ".").last.map(String.init) ?? "" }
}

/// The files, read once. A missing folder would leave nothing to test, so it traps.
enum Corpus {
  static let whole = files(in: "pictures/whole").filter { !leftOut.contains($0.suffix) }
  static let refused = files(in: "pictures/refused")
  /// Whole images of which a side is longer than 16 384 pixels.
  static let long = files(in: "pictures/long")

  static let animations = files(in: "animations").filter {
    !$0.description.hasSuffix(".frames.png")
  }

  /// Kinds of files that need a trait of the package which these tests were built without.
  private static let leftOut: Set<String> = {
    var suffixes: Set<String> = []
    #if !canImport(ImageIO) && !GIF
      suffixes.insert("gif")
    #endif
    #if !canImport(ImageIO) && !AVIF
      suffixes.insert("avif")
    #endif
    #if !canImport(ImageIO) && !HEIF
      suffixes.insert("heic")
    #endif
    #if !SVG
      suffixes.insert("svg")
    #endif
    #if !canImport(ImageIO) && !Pixbuf
      suffixes.formUnion(["bmp", "ico", "tif"])
    #endif
    return suffixes
  }()

  /// Inputs of an attack: a folder of its own, and every image for attacks on decoders.
  static func files(for attack: Attack) -> [CorpusFile] {
    switch attack {
    case .jpeg, .png, .webp, .gif, .avif, .heif, .svg, .pixbuf: whole + refused
    case .pngFrames: animations.filter { $0.suffix == "png" }
    case .webpFrames: animations.filter { $0.suffix == "webp" }
    case .gifFrames: animations.filter { $0.suffix == "gif" }
    case .avifFrames: animations.filter { $0.suffix == "avif" }
    case .table, .original, .exif, .dataURL, .http, .terms, .arguments:
      files(in: "attacks/\(attack.rawValue)")
    }
  }

  private static func files(in folder: String) -> [CorpusFile] {
    let url = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Corpora/\(folder)")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    let files = names.sorted().compactMap { name in
      (try? Data(contentsOf: url.appendingPathComponent(name))).map {
        CorpusFile(description: name, bytes: $0)
      }
    }
    precondition(!files.isEmpty, "The corpus has no \(folder).")
    return files
  }
}

extension Data {
  /// Changes, removes or doubles a few bytes, anywhere.
  mutating func damage(by random: inout SplitMix64) {
    for _ in 0..<Int.random(in: 1...4, using: &random) where !isEmpty {
      let index = Int.random(in: 0..<count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: removeSubrange(index...)
      case 1: insert(self[index], at: index)
      default: self[index] = .random(in: 0...255, using: &random)
      }
    }
  }
}
