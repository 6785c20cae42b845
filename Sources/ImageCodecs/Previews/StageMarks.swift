/// Places in a file at which a stage is due, as parts of its announced bytes; pure.
///
/// A stage is there once for each part, however the bytes are divided, and ends before the file does.
struct StageMarks {
  private var marks: [Int] = []
  private let end: Int

  /// - Parameters:
  ///   - parts: From 0 to 1, of the bytes between the two places.
  ///   - start: The beginning of the image in the file.
  ///   - end: The announced end of the file.
  init(_ parts: [Double], from start: Int, to end: Int) {
    self.end = end
    if start < end { marks = parts.map { start + Int(Double(end - start) * $0) } }
  }

  /// Whether one more mark, or several, lie before a place.
  mutating func reach(_ byteCount: Int) -> Bool {
    guard byteCount < end else { return false }
    let count = marks.count
    marks.removeAll { $0 <= byteCount }
    return marks.count < count
  }
}
