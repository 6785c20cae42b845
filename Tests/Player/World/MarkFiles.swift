import FastImageCache
import Foundation
import Locking

/// The encoded pictures of marks, each encoded once.
final class MarkFiles: Sendable {
  enum Kind: Int, CaseIterable, Sendable {
    case png, jpeg, progressive, webp, animation
  }

  static let frameCount = 3
  /// Of each frame of an animation.
  static let frameMilliseconds = 40

  private struct Name: Hashable {
    let mark: Mark
    let kind: Kind
    let side: Int
  }

  /// All go when there are too many.
  private let files = Lock<[Name: Data]>([:])

  func data(of mark: Mark, _ kind: Kind, side: Int = 64) throws -> Data {
    let name = Name(mark: mark, kind: kind, side: side)
    if let data = files.withLock({ $0[name] }) { return data }
    let data = try Self.encode(name)
    files.withLock { files in
      if files.count > 2_000 { files = [:] }
      files[name] = data
    }
    return data
  }

  private static func encode(_ name: Name) throws -> Data {
    let bitmap = try name.mark.bitmap(side: name.side)
    switch name.kind {
    case .png: return try bitmap.pngData()
    case .jpeg: return try bitmap.data(encodedBy: JPEGEncoder(quality: 0.9))
    case .progressive:
      return try bitmap.data(encodedBy: JPEGEncoder(quality: 0.9, isProgressive: true))
    case .webp: return try bitmap.data(encodedBy: .losslessWebP)
    case .animation:
      let frames = try (0..<frameCount).map { index in
        var mark = name.mark
        mark.frame = index
        return try mark.bitmap(side: name.side).data(encodedBy: .losslessWebP)
      }
      return animation(frames, side: name.side)
    }
  }

  /// Still WebP images as frames of one animation, which goes on for ever: the WebP container specification.
  private static func animation(_ stills: [Data], side: Int) -> Data {
    func chunk(_ name: String, _ body: Data) -> Data {
      Data(name.utf8) + number(body.count, bytes: 4) + body + Data(count: body.count & 1)
    }
    let edge = number(side - 1, bytes: 3)
    // Animation, and no other flag.
    var chunks = chunk("VP8X", Data([2, 0, 0, 0]) + edge + edge)
    chunks += chunk("ANIM", Data(count: 6))
    for still in stills {
      // Neither blended nor disposed of.
      let head =
        Data(count: 6) + edge + edge + number(frameMilliseconds, bytes: 3) + Data([2])
      chunks += chunk("ANMF", head + still.dropFirst(12))
    }
    return Data("RIFF".utf8) + number(chunks.count + 4, bytes: 4) + Data("WEBP".utf8) + chunks
  }

  private static func number(_ value: Int, bytes: Int) -> Data {
    Data((0..<bytes).map { UInt8(value >> (8 * $0) & 0xff) })
  }
}
