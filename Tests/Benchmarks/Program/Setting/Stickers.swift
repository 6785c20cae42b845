import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation

/// Animated WebP files, made by a peer.
struct Stickers {
  static let format = ImageFormat(
    name: "stickers", size: .exact(PixelSize(width: 160, height: 160)),
    capacity: .bytes(1 << 30), animation: .allFrames(byteLimit: 64 << 20))

  let file: URL
  let bytes: [UInt8]
  let animator: bench_animator

  /// - Returns: `nil` where no peer makes animations.
  init?(
    side: Int, frames: Int, _ setting: BenchSetting
  ) throws {
    guard let animator = setting.peers.animators.first else { return nil }
    var (memory, count) = (UnsafeMutableRawPointer?.none, 0)
    guard animator.make(CInt(side), CInt(side), CInt(frames), &memory, &count) == 0, let memory
    else {
      throw BenchFailure(description: "\(String(cString: animator.name)) made no animation.")
    }
    defer { free(memory) }
    bytes = Array(UnsafeRawBufferPointer(start: memory, count: count))
    file = setting.place.url.appending(path: "animation-\(side)-\(frames).webp")
    try Data(bytes).write(to: file)
    self.animator = animator
  }

  /// Players of the peer, each at its beginning. The bytes stay as long as they do.
  final class Players {
    private let bytes: UnsafeMutableRawBufferPointer
    private let animator: bench_animator
    private let frameByteCount: Int
    private var players: [UnsafeMutableRawPointer?]

    /// - Parameter reads: Whether all pixels are read.
    init(_ count: Int, of stickers: Stickers, side: Int, reads: Bool = true) {
      bytes = .allocate(byteCount: stickers.bytes.count, alignment: 16)
      bytes.copyBytes(from: stickers.bytes)
      (animator, frameByteCount) = (stickers.animator, reads ? side * side * 4 : 0)
      players = Array(repeating: nil, count: count)
    }

    deinit {
      for player in players { if let player { animator.end(player) } }
      bytes.deallocate()
    }

    /// Decodes the next frame of a player and reads it; false after the last one.
    func next(_ number: Int) throws -> Bool {
      if players[number] == nil { players[number] = animator.begin(bytes.baseAddress, bytes.count) }
      guard let player = players[number] else {
        throw BenchFailure(description: "\(String(cString: animator.name)) plays nothing.")
      }
      if let pixels = animator.next(player) {
        if frameByteCount > 0 { _ = bench_sum(pixels, frameByteCount) }
        return true
      }
      animator.end(player)
      players[number] = nil
      return false
    }
  }
}
