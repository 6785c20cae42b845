/// What a picture of the player says of itself, in its pixels.
///
/// A mark is 48 cells, dark or bright, between two rows that differ: so a picture that is cut, turned, mirrored or mixed
/// of two has no mark.
struct Mark: Hashable, Sendable {
  /// Who made the picture.
  enum Maker: Int, CaseIterable, Sendable {
    /// The source of its subject: a server, a file, a closure, an entity.
    case source
    /// A step, which stored it by hand.
    case hand
  }

  /// What is shown: a subject's number, up to 1 023.
  var subject: Int
  /// A subject's revision, or the number of a picture by hand, up to 65 535.
  var revision: Int
  var maker = Maker.source
  /// For whom the source made it: 0 for everyone.
  var account = 0
  /// Of an animation.
  var frame = 0

  private static let widths = [10, 16, 2, 2, 4]
  static let firstRow: [Bool] = [true, false, true, true, false, false, true, false]
  static let lastRow: [Bool] = [false, true, true, true, false, true, false, false]

  /// 48 cells, the first bit of each field first.
  var cells: [Bool] {
    let fields = [subject, revision, maker.rawValue, account, frame]
    var bits = 0
    for (field, width) in zip(fields, Self.widths) { bits = bits << width | field }
    let code = bits << 14 | Self.checksum(bits)
    return (0..<48).map { code >> (47 - $0) & 1 == 1 }
  }

  init(
    subject: Int, revision: Int, maker: Maker = .source, account: Int = 0, frame: Int = 0
  ) {
    (self.subject, self.revision, self.maker) = (subject, revision, maker)
    (self.account, self.frame) = (account, frame)
  }

  /// The mark of 48 cells; `nil` where they are none's.
  init?(cells: [Bool]) {
    let code = cells.reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    var bits = code >> 14
    guard Self.checksum(bits) == code & 0x3fff else { return nil }
    var fields: [Int] = []
    for width in Self.widths.reversed() {
      fields.append(bits & (1 << width - 1))
      bits >>= width
    }
    guard let maker = Maker(rawValue: fields[2]) else { return nil }
    self.init(
      subject: fields[4], revision: fields[3], maker: maker, account: fields[1], frame: fields[0])
  }

  private static func checksum(_ bits: Int) -> Int {
    var hash: UInt64 = UInt64(bits) &+ 1
    hash = (hash ^ hash >> 31) &* 0x7fb5_d329_728e_a185
    hash = (hash ^ hash >> 27) &* 0x81da_def4_bc2d_d44d
    return Int(hash >> 40 & 0x3fff)
  }
}

extension Mark: CustomStringConvertible {
  var description: String {
    let name =
      switch maker {
      case .source: "\(subject).\(revision)"
      case .hand: "hand \(subject).\(revision)"
      }
    return name + (account > 0 ? " of account \(account)" : "")
      + (frame > 0 ? " frame \(frame)" : "")
  }
}
