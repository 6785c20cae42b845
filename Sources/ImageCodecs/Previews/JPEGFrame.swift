/// A JPEG file's components, and the bits of them that the scans of a progressive one have brought; pure.
///
/// The same question is answered by `jpeg_scans.c` while a file is decoded; tests compare both.
struct JPEGFrame {
  static let scanCode: UInt8 = 0xDA
  private static let tableCode: UInt8 = 0xDB
  /// A progressive frame with Huffman codes.
  private static let progressiveCode: UInt8 = 0xC2
  /// Frames with Huffman codes whose blocks come one after the other: baseline and extended.
  private static let sequentialCodes: ClosedRange<UInt8> = 0xC0...0xC1

  /// The coefficients in the order of scans that two by two pixels of a block are made of.
  private static let coarse = [0, 1, 2, 4]

  /// A block's mean is an eighth of its first coefficient.
  private static let stepsPerLevel = 8

  private struct Component {
    let id: UInt8
    let across, down: Int
    let table: Int
    /// Pixels along the side of a block at an eighth of the size.
    var side = 1
    /// The steps of the coarse coefficients, as they were when the component's first scan began.
    var steps: [Int]?
    /// The bits that are missing of each coarse coefficient; `nil` before the first one has come.
    var missingBits: [Int?] = [nil, nil, nil, nil]
  }

  /// Whether the blocks come whole, one after the other.
  private(set) var isSequential = false
  /// Whether the newest scan has all components.
  private(set) var hasCommonScan = false
  /// Whether a scan has brought more than blocks' means.
  private(set) var hasDetail = false
  private var components: [Component] = []
  /// The steps of the coarse coefficients, by the table's number.
  private var tables: [[Int]?] = [nil, nil, nil, nil]

  /// Whether a segment says something about scans.
  static func concerns(_ code: UInt8) -> Bool {
    // All frames, but for the segments of Huffman codes and of arithmetic coding among them.
    code == scanCode || code == tableCode
      || (0xC0...0xCF).contains(code) && ![0xC4, 0xC8, 0xCC].contains(code)
  }

  /// Whether every component has its blocks' means.
  var hasMeans: Bool {
    !components.isEmpty && components.allSatisfy { $0.missingBits[0] != nil }
  }

  /// Whether later scans cannot change a decode at an eighth of the size.
  var isKnownAtAnEighth: Bool { !components.isEmpty && components.allSatisfy(Self.isKnown) }

  /// Takes a segment's content in.
  ///
  /// - Returns: False for a file that is damaged, or of another kind: it has no more stages.
  mutating func take(_ content: [UInt8], of code: UInt8) -> Bool {
    switch code {
    case Self.tableCode: takeTables(content)
    case Self.scanCode: takeScan(content)
    case Self.progressiveCode: takeFrame(content)
    case Self.sequentialCodes: takeFrame(content, isSequential: true)
    default: false
    }
  }

  private mutating func takeTables(_ content: [UInt8]) -> Bool {
    var rest = content[...]
    while let head = rest.popFirst() {
      let (width, number) = (head >> 4 == 0 ? 1 : 2, Int(head & 15))
      guard number < 4, rest.count >= 64 * width else { return false }
      let start = rest.startIndex
      tables[number] = Self.coarse.map { index in
        rest[start + index * width..<start + (index + 1) * width].reduce(0) { $0 << 8 + Int($1) }
      }
      rest = rest.dropFirst(64 * width)
    }
    return true
  }

  private mutating func takeFrame(_ content: [UInt8], isSequential: Bool = false) -> Bool {
    self.isSequential = isSequential
    guard components.isEmpty, content.count >= 6 else { return false }
    let count = Int(content[5])
    guard (1...4).contains(count), content.count >= 6 + 3 * count else { return false }
    components = (0..<count).map { index in
      let fields = content[(6 + 3 * index)...]
      let (sampling, start) = (fields[fields.startIndex + 1], fields.startIndex)
      return Component(
        id: fields[start], across: Int(sampling >> 4), down: Int(sampling & 15),
        table: Int(fields[start + 2]))
    }
    guard
      components.allSatisfy({
        (1...4).contains($0.across) && (1...4).contains($0.down) && (0...3).contains($0.table)
      })
    else { return false }
    let (across, down) = components.reduce((1, 1)) { (max($0.0, $1.across), max($0.1, $1.down)) }
    for index in components.indices {
      var side = 1
      // libjpeg decodes coarser colours at twice the size instead of repeating them.
      while across % (components[index].across * side * 2) == 0,
        down % (components[index].down * side * 2) == 0
      { side *= 2 }
      components[index].side = side
    }
    return true
  }

  private mutating func takeScan(_ content: [UInt8]) -> Bool {
    guard let count = content.first.map(Int.init), (1...4).contains(count),
      content.count >= 4 + 2 * count
    else { return false }
    let (first, last) = (Int(content[1 + 2 * count]), Int(content[2 + 2 * count]))
    let missingBits = Int(content[3 + 2 * count] & 15)
    guard first <= last, last < 64 else { return false }
    hasCommonScan = count == components.count
    hasDetail = hasDetail || last > 0
    for number in 0..<count {
      let id = content[1 + 2 * number]
      guard let index = components.firstIndex(where: { $0.id == id }) else { return false }
      if components[index].steps == nil {
        components[index].steps = tables[components[index].table]
      }
      for (place, coefficient) in Self.coarse.enumerated()
      where (first...last).contains(coefficient) {
        components[index].missingBits[place] = missingBits
      }
    }
    return true
  }

  private static func isKnown(_ component: Component) -> Bool {
    guard component.side <= 2, let steps = component.steps else { return false }
    return (0..<component.side * component.side).allSatisfy { place in
      guard let bits = component.missingBits[place], bits <= 8 else { return false }
      return ((1 << bits) - 1) * steps[place] <= stepsPerLevel
    }
  }
}
