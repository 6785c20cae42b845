/// What the slot of a first frame tells of the frames behind it, in a table that keeps animations.
///
/// It stands before the metadata, of which the table's file knows nothing. `Docs/TableFormat.md` has the bytes.
package enum SlotMotion: Hashable, Sendable {
  /// The image does not move.
  case still

  /// The image moves, and the frames behind it are not kept: they are decoded while it plays, if they can be.
  ///
  /// The nonce is drawn at random for each load, and tells its frames from those of others.
  case unkept(nonce: UInt64)

  /// Each frame behind the first has a slot of its own.
  case stored(StoredMotion)

  /// The bytes that are no longer there for metadata.
  static let leastByteCount = 11

  /// The bytes before those that a code asks for.
  private static let headByteCount = 3

  private enum Code: UInt8 {
    case still, unkept, stored
  }

  /// Whether the image moves, and its frames are not kept.
  package var isUnkept: Bool { if case .unkept = self { true } else { false } }

  /// Frames with slots of their own.
  package var frameCount: Int {
    if case .stored(let motion) = self { motion.timeline.frameCount } else { 1 }
  }

  /// The bytes before the metadata: their count, a code, and what the code asks for.
  var bytes: [UInt8] {
    var own: [UInt8]
    switch self {
    case .still: own = [Code.still.rawValue]
    case .unkept(let nonce): own = [Code.unkept.rawValue] + nonce.littleEndianBytes
    case .stored(let motion): own = [Code.stored.rawValue] + motion.bytes
    }
    own.insert(contentsOf: UInt16(own.count).littleEndianBytes, at: 0)
    return own
  }

  /// Parts the bytes of a slot; those that this version would not have written are a still's metadata.
  package static func parting(_ bytes: [UInt8]) -> (motion: SlotMotion, metadata: ArraySlice<UInt8>)
  {
    guard bytes.count >= headByteCount else { return (.still, bytes[...]) }
    let end = 2 + Int(bytes[0]) + Int(bytes[1]) << 8
    guard end >= headByteCount, end <= bytes.count, let code = Code(rawValue: bytes[2]) else {
      return (.still, bytes[...])
    }
    let (own, metadata) = (bytes[headByteCount..<end], bytes[end...])
    switch code {
    case .still: return (.still, metadata)
    case .unkept: return (.unkept(nonce: own.number(at: 0, count: 8)), metadata)
    case .stored:
      guard let motion = StoredMotion(reading: own) else { return (.still, metadata) }
      return (.stored(motion), metadata)
    }
  }

  /// The nonce of the load whose frames belong to the slot; `nil` for a still.
  var nonce: UInt64? {
    switch self {
    case .still: nil
    case .unkept(let nonce): nonce
    case .stored(let motion): motion.nonce
    }
  }
}

/// The frames behind a first frame that have slots of their own.
package struct StoredMotion: Hashable, Sendable {
  /// Drawn at random for each load. The frames are stored under it, so that they are never shown beside the first frame
  /// of another.
  let nonce: UInt64
  package let timeline: AnimationTimeline

  /// Nonce, loops (0 for ever), and runs of frames of one duration: their count, and microseconds each.
  var bytes: [UInt8] {
    var runs: [(count: UInt16, time: UInt32)] = []
    for duration in timeline.frameDurations {
      let time = UInt32(clamping: Int64((duration / .microseconds(1)).rounded()))
      if let last = runs.last, last.time == time, last.count < .max {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((1, time))
      }
    }
    return nonce.littleEndianBytes + UInt32(clamping: timeline.loopCount ?? 0).littleEndianBytes
      + runs.flatMap { $0.count.littleEndianBytes + $0.time.littleEndianBytes }
  }

  init(nonce: UInt64, timeline: AnimationTimeline) {
    (self.nonce, self.timeline) = (nonce, timeline)
  }

  /// More frames than any decoder reads are a forgery.
  private static let largestFrameCount = 1 << 16

  fileprivate init?(reading bytes: ArraySlice<UInt8>) {
    guard bytes.count > 12, (bytes.count - 12) % 6 == 0 else { return nil }
    var durations: [Duration] = []
    for run in stride(from: 12, to: bytes.count, by: 6) {
      let count = Int(bytes.number(at: run, count: 2))
      guard durations.count + count <= Self.largestFrameCount else { return nil }
      let time = Duration.microseconds(Int64(bytes.number(at: run + 2, count: 4)))
      durations += repeatElement(time, count: count)
    }
    guard !durations.isEmpty else { return nil }
    let loops = Int(bytes.number(at: 8, count: 4))
    self.init(
      nonce: bytes.number(at: 0, count: 8),
      timeline: AnimationTimeline(frameDurations: durations, loopCount: loops == 0 ? nil : loops))
  }
}

extension ArraySlice<UInt8> {
  /// A number in little-endian order; missing bytes count as 0.
  fileprivate func number(at offset: Int, count: Int) -> UInt64 {
    dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension FixedWidthInteger {
  fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
