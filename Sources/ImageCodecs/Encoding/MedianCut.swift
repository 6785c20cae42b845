import Pixels

/// Groups of colours: those that agree in the five highest bits of each channel or, of an image that has fewer than 256
/// of these, each colour by itself.
struct ColorGroups {
  static let count = 1 << 20

  /// The groups of which each colour is one by itself, by their places.
  private var divided: [Int] = []
  private var places: [Int] = []

  init() {}

  /// - Parameter groups: Fewer than 256, in the numbers of groups that are not divided.
  init(dividing groups: [Int]) {
    divided = groups
    places = [Int](repeating: 0, count: Self.count)
    for (place, group) in groups.enumerated() { places[group] = place }
  }

  func number(_ color: UInt32) -> Int {
    let group = Self.packed(color >> 3, 5)
    return places.isEmpty ? group : places[group] << 12 | Self.packed(color, 3)
  }

  /// How high the group's colours are in a channel.
  func level(_ number: Int, _ channel: Int) -> Int {
    guard !divided.isEmpty else { return number >> (5 * channel) & 31 }
    return (divided[number >> 12] >> (5 * channel) & 31) << 3 | number >> (3 * channel) & 7
  }

  /// The pixels of each group.
  func counts(
    _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout
  ) throws(ImageEncodingError) -> [Int] {
    var counts = [Int](repeating: 0, count: Self.count)
    try PaletteImage.forEachPixel(pixels, layout) { counts[number($0)] += 1 }
    return counts
  }

  /// The lowest bits of each channel, side by side.
  private static func packed(_ color: UInt32, _ width: UInt32) -> Int {
    let mask: UInt32 = 1 << width - 1
    let (low, high) = (
      color & mask | (color >> 8 & mask) << width,
      color >> 16 & mask | (color >> 24 & mask) << width
    )
    return Int(low | high << (2 * width))
  }
}

/// Divides colours into boxes, the fullest at its median again and again.
enum MedianCut {
  /// - Parameters:
  ///   - counts: The pixels of each group of colours.
  ///   - level: How high a group's colours are in one of four channels.
  /// - Returns: The groups in each box; only groups that have pixels.
  static func boxes(
    of counts: [Int], atMost limit: Int, level: (_ group: Int, _ channel: Int) -> Int
  ) -> [[Int]] {
    var boxes = [Box(counts.indices.filter { counts[$0] > 0 }, counts, level)]
    while boxes.count < limit {
      guard let index = boxes.indices.max(by: { boxes[$0].rank < boxes[$1].rank }),
        boxes[index].rank > 0
      else { break }
      let box = boxes[index]
      let sorted = box.groups.sorted {
        (level($0, box.channel), $0) < (level($1, box.channel), $1)
      }
      var (end, rest) = (0, box.count / 2)
      // Neither part is empty.
      while end < sorted.count - 1, rest > 0 || end == 0 {
        rest -= counts[sorted[end]]
        end += 1
      }
      boxes[index] = Box(Array(sorted[..<end]), counts, level)
      boxes.append(Box(Array(sorted[end...]), counts, level))
    }
    return boxes.map(\.groups)
  }

  private struct Box {
    let groups: [Int]
    let count: Int
    /// That in which colours differ most.
    let channel: Int
    /// The number of pixels times the widest range of a channel. A box of one colour has 0, and stays whole.
    let rank: Int

    init(_ groups: [Int], _ counts: [Int], _ level: (Int, Int) -> Int) {
      self.groups = groups
      count = groups.reduce(0) { $0 + counts[$1] }
      let ranges = (0..<4).map { channel in
        let levels = groups.map { level($0, channel) }
        return (range: (levels.max() ?? 0) - (levels.min() ?? 0), channel: channel)
      }
      let longest = ranges.max { $0.range < $1.range } ?? (0, 0)
      channel = longest.channel
      rank = longest.range * count
    }
  }
}
