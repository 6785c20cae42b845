/// What the slot of a first frame tells of the frames behind it, in a table that keeps animations.
///
/// It stands before the metadata, of which the table's file knows nothing. `Docs/TableFormat.md` has the bytes.
package enum SlotMotion: Hashable, Sendable {
  /// The image does not move.
  case still

  /// The animation is decoded while it plays.
  case streamed

  /// Each frame behind the first has a slot of its own.
  case stored(StoredMotion)

  /// The bytes that are no longer there for metadata.
  static let leastByteCount = 3

  private enum Code: UInt8 {
    case still, streamed, stored
  }

  /// Frames with slots of their own.
  package var frameCount: Int {
    if case .stored(let motion) = self { motion.timeline.frameCount } else { 1 }
  }

  /// The bytes before the metadata: their count, a code, and what the code asks for.
  var bytes: [UInt8] {
    var own: [UInt8]
    switch self {
    case .still: own = [Code.still.rawValue]
    case .streamed: own = [Code.streamed.rawValue]
    case .stored(let motion): own = [Code.stored.rawValue] + motion.bytes
    }
    own.insert(contentsOf: UInt16(own.count).littleEndianBytes, at: 0)
    return own
  }

  /// Parts the bytes of a slot; those that this version would not have written are a still's metadata.
  package static func parting(_ bytes: [UInt8]) -> (motion: SlotMotion, metadata: ArraySlice<UInt8>)
  {
    guard bytes.count >= leastByteCount else { return (.still, bytes[...]) }
    let end = 2 + Int(bytes[0]) + Int(bytes[1]) << 8
    guard end >= leastByteCount, end <= bytes.count, let code = Code(rawValue: bytes[2]) else {
      return (.still, bytes[...])
    }
    let metadata = bytes[end...]
    switch code {
    case .still: return (.still, metadata)
    case .streamed: return (.streamed, metadata)
    case .stored:
      guard let motion = StoredMotion(reading: bytes[leastByteCount..<end]) else {
        return (.streamed, metadata)
      }
      return (.stored(motion), metadata)
    }
  }
}

/// The frames behind a first frame that have slots of their own.
package struct StoredMotion: Hashable, Sendable {
  /// Drawn at random for each load. The frames are stored under it, so that they are never shown beside another
  /// load's first frame.
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

  fileprivate init?(reading bytes: ArraySlice<UInt8>) {
    func number(_ range: Range<Int>) -> UInt64 {
      bytes.dropFirst(range.lowerBound).prefix(range.count).reversed().reduce(0) {
        $0 << 8 | UInt64($1)
      }
    }
    guard bytes.count > 12, (bytes.count - 12) % 6 == 0 else { return nil }
    var durations: [Duration] = []
    for run in stride(from: 12, to: bytes.count, by: 6) {
      let time = Duration.microseconds(Int64(number(run + 2..<run + 6)))
      durations += repeatElement(time, count: Int(number(run..<run + 2)))
    }
    let loops = Int(number(8..<12))
    self.init(
      nonce: number(0..<8),
      timeline: AnimationTimeline(frameDurations: durations, loopCount: loops == 0 ? nil : loops))
  }
}

extension FixedWidthInteger {
  fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
