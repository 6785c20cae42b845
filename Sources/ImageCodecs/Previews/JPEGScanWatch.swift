import Foundation

/// Finds stages of a JPEG file: the ends of a progressive file's scans, after which it can be cut, the end of a
/// head that may have a thumbnail, and places among a sequential file's rows; pure.
///
/// ITU-T T.81 annexes B and G. Scans are told by their segments: a marker in a segment's content, such as a
/// thumbnail's, is none of the file, and a scan may bring only some components or bits.
///
/// Invariants:
/// 1. Each byte is looked at once. Of the file only the segment under way is kept, and only if it says
///    something about scans: 64 KiB at most.
/// 2. A frame ends before a marker that follows a scan, never at the end marker: the file is whole then.
/// 3. The first frame is the end of the scan after which every component has its means. A later one is that
///    of the known scan, after which a decode at an eighth of the size cannot change, or comes when the bytes
///    have doubled since the last one. So there are few, however many scans there are.
/// 4. Besides, there is at most one stage for a thumbnail, and three for rows, if the file's length is announced.
struct JPEGScanWatch: PreviewScanner {
  private enum Place {
    /// Before the given byte of the start marker.
    case start(Int)
    case betweenSegments
    case marker
    case length(of: UInt8, high: UInt8?)
    case segment(UInt8, remaining: Int)
    case scan
    /// In the only scan of a sequential file.
    case rows
    /// In a scan, behind bytes of 0xFF that begin there in the file.
    case markerInScan(from: Int)
    case over
  }

  private static let exifCode: UInt8 = 0xE1
  private static let exifMagic = Array("Exif\0\0".utf8)

  private var place = Place.start(0)
  /// Bytes before those that are being looked at.
  private var passedByteCount = 0
  private var segment: [UInt8] = []
  private var frame = JPEGFrame()
  private var hasEXIF = false
  private var lastFrame: PreviewStage?
  private var newStages: [PreviewStage.Kind: PreviewStage] = [:]
  private var marks = StageMarks([], from: 0, to: 0)
  /// Whether the decoder stops at the known scan.
  private let settles: Bool
  private let total: Int?
  /// Scans that have begun; of a sequential file the first only.
  private(set) var scanCount = 0

  /// - Parameters:
  ///   - settles: Whether the decoder leaves out what an eighth of the size does not show.
  ///   - byteCount: The announced number of the file's bytes; `nil` for no stages of rows.
  init(settles: Bool, of byteCount: Int? = nil) { (self.settles, total) = (settles, byteCount) }

  /// Whether the bytes that came show the means of blocks, and nothing else.
  var showsMeansOnly: Bool { frame.hasMeans && !frame.hasDetail }

  mutating func receive(_ bytes: Data) -> [PreviewStage] {
    newStages = [:]
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count { advance(bytes, &offset) }
    }
    passedByteCount += bytes.count
    if case .rows = place, marks.reach(passedByteCount) {
      newStages[.rows] = PreviewStage(.rows, byteCount: passedByteCount)
    }
    return Array(newStages.values)
  }

  /// Looks at one byte or more.
  private mutating func advance(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) {
    switch place {
    case .rows, .over: offset = bytes.count
    case .betweenSegments:
      if findFF(bytes, &offset) { place = .marker }
    case .scan:
      if findFF(bytes, &offset) { place = .markerInScan(from: passedByteCount + offset - 1) }
    case .segment(let code, let remaining):
      let count = min(remaining, bytes.count - offset)
      if JPEGFrame.concerns(code) {
        segment += bytes[offset..<offset + count]
      } else if code == Self.exifCode {
        let missing = Self.exifMagic.count - segment.count
        segment += bytes[offset..<offset + min(missing, count)]
      }
      offset += count
      place = .segment(code, remaining: remaining - count)
      if remaining == count { endSegment(code, at: passedByteCount + offset) }
    case .start, .marker, .length, .markerInScan:
      take(bytes[offset])
      offset += 1
    }
  }

  /// Moves behind the next byte of 0xFF, or to the end.
  private func findFF(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
    guard let start = rest.baseAddress, let found = memchr(start, 0xFF, rest.count) else {
      offset = bytes.count
      return false
    }
    offset += UnsafeRawPointer(found) - start + 1
    return true
  }

  private mutating func take(_ byte: UInt8) {
    switch place {
    case .start(0) where byte == 0xFF: place = .start(1)
    case .start(1) where byte == 0xD8: place = .betweenSegments
    case .start: place = .over
    case .marker: begin(byte)
    case .length(let code, nil): place = .length(of: code, high: byte)
    case .length(let code, let high?):
      // The length counts its own two bytes.
      let remaining = Int(high) << 8 + Int(byte) - 2
      place = remaining < 0 ? .over : .segment(code, remaining: remaining)
      if remaining == 0 { endSegment(code, at: 0) }
    case .markerInScan(let start):
      switch byte {
      case 0xFF: break
      // A byte of data, restart markers, and a marker without a meaning.
      case 0x00, 0x01, 0xD0...0xD7: place = .scan
      default:
        if byte != 0xD9 { endScan(at: start) }
        begin(byte)
      }
    case .betweenSegments, .segment, .scan, .rows, .over: break
    }
  }

  /// Begins the segment of a marker.
  private mutating func begin(_ code: UInt8) {
    switch code {
    case 0xFF: break
    case 0x00, 0x01, 0xD0...0xD7: place = .betweenSegments
    // A second start, and the end.
    case 0xD8, 0xD9: place = .over
    default: place = .length(of: code, high: nil)
    }
  }

  private mutating func endSegment(_ code: UInt8, at byteCount: Int) {
    defer { segment.removeAll(keepingCapacity: true) }
    if code == Self.exifCode, segment == Self.exifMagic { hasEXIF = true }
    if JPEGFrame.concerns(code), !frame.take(segment, of: code) {
      place = .over
    } else if code == JPEGFrame.scanCode {
      beginScan(at: byteCount)
    } else {
      place = .betweenSegments
    }
  }

  private mutating func beginScan(at byteCount: Int) {
    scanCount += 1
    if hasEXIF {
      hasEXIF = false
      newStages[.embedded] = PreviewStage(.embedded, byteCount: byteCount)
    }
    place = !frame.isSequential ? .scan : frame.hasCommonScan ? .rows : .over
    marks = StageMarks(PreviewStage.rowParts, from: byteCount, to: total ?? 0)
  }

  private mutating func endScan(at byteCount: Int) {
    guard frame.hasMeans else { return }
    let isKnown = settles && frame.isKnownAtAnEighth
    let stage = PreviewStage(.frame, byteCount: byteCount, settledReduction: isKnown ? 8 : nil)
    if let lastFrame {
      let becomesKnown = isKnown && lastFrame.settledReduction == nil
      guard becomesKnown || byteCount >= 2 * lastFrame.byteCount else { return }
    }
    lastFrame = stage
    newStages[.frame] = stage
  }
}

extension Data {
  /// The first bytes of a JPEG file, with an end marker behind them.
  func closedAsJPEG() -> Data { self + [0xFF, 0xD9] }
}
