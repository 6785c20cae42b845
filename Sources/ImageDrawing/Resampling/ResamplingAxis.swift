/// For every pixel along one side of the output, the source pixels it is made of and their weights.
///
/// Shrinking weighs with a triangle as wide as two output pixels: smooth, without the ringing of
/// filters that have negative weights and without the stair steps of a plain average. Enlarging uses
/// the Catmull-Rom cubic, which goes through the source's values, so that 1:1 is a copy and edges
/// keep their contrast; the triangle would show the source's grid there.
///
/// The weights of a pixel add up to one everywhere. Where the filter reaches over the border of the
/// source, the weights inside are raised instead of mixing in a colour from nowhere. Where
/// shrinking meets a pixel that an edge cuts, the pixel weighs as much as of it is inside: the rest
/// may be a decoder's padding, or pixels that a file hides beside its image.
struct ResamplingAxis: ~Copyable {
  /// Consecutive source pixels.
  struct Taps {
    var first: Int
    var count: Int
  }

  /// Pixels of the output.
  let count: Int

  /// Every source pixel that any output pixel needs.
  let sourceRange: Range<Int>

  /// Floats from the weights of one output pixel to those of the next. Those behind the last tap
  /// are zero up to a multiple of four, so that loops may take four at a time.
  let stride: Int

  /// Whether each output pixel is one source pixel.
  let isIdentity: Bool

  /// Whether a weight can be negative.
  let isSigned: Bool

  /// Of all output pixels, `count` of them; freed by `deinit`, so valid as long as the axis lives.
  let taps: UnsafeMutablePointer<Taps>

  /// `count * stride` of them; freed by `deinit`, so valid as long as the axis lives.
  let weights: UnsafeMutablePointer<Float>

  private let memory: ScratchMemory

  /// - Parameters:
  ///   - origin: Where the first output pixel begins, in source pixels.
  ///   - step: How many source pixels an output pixel spans.
  ///   - count: Pixels of the output.
  ///   - limits: The part of the source that may be used.
  ///   - available: Pixels of the source.
  ///   - interpolation: `.nearest` gives each output pixel the source pixel under its middle.
  init(
    origin: Double, step: Double, count: Int, limits edges: Range<Double>, available: Int,
    _ interpolation: Canvas.Interpolation
  ) throws(DrawingError) {
    let limits = Self.pixels(between: edges, of: available)
    let filter =
      interpolation == .nearest ? Filter.nearest : step > 1 ? .triangle(step) : .catmullRom
    let radius = filter.radius
    let width = min(Int((2 * radius).rounded(.up)) + 1, limits.count)
    let stride = (width + 3) & ~3
    let tapBytes = count * MemoryLayout<Taps>.stride
    memory = try ScratchMemory(byteCount: tapBytes + count * stride * MemoryLayout<Float>.stride)
    taps = memory.bytes.bindMemory(to: Taps.self, capacity: count)
    weights = (memory.bytes + tapBytes).bindMemory(to: Float.self, capacity: count * stride)

    for index in 0..<count {
      let exact = origin + (Double(index) + 0.5) * step
      let center = max(Double(limits.lowerBound), min(Double(limits.upperBound), exact))
      let first = Int((center - radius + 0.5).rounded(.down))
      let last = Int((center + radius - 0.5).rounded(.up))
      // Rounding can leave the range empty where only the nearest pixel counts.
      let nearest = max(limits.lowerBound, min(limits.upperBound - 1, Int(center.rounded(.down))))
      let low = min(nearest, max(first, limits.lowerBound))
      let high = max(nearest + 1, min(last, limits.upperBound))
      taps[index] = Self.weigh(
        low..<high, within: edges, around: center, filter, into: weights + index * stride)
    }

    self.count = count
    self.stride = stride
    isSigned = filter == .catmullRom
    let copies = (0..<count).allSatisfy { [taps] in
      taps[$0].count == 1 && taps[$0].first == taps[0].first + $0
    }
    isIdentity = copies
    sourceRange = (0..<count).reduce(taps[0].first..<taps[0].first + taps[0].count) { [taps] in
      let (first, count) = (taps[$1].first, taps[$1].count)
      return min($0.lowerBound, first)..<max($0.upperBound, first + count)
    }
  }

  /// The source pixels between two edges. Edges that came out of a division lie on a pixel's border
  /// when they all but do.
  private static func pixels(between edges: Range<Double>, of count: Int) -> Range<Int> {
    let first = max(0, min(count - 1, Int((edges.lowerBound + 1e-6).rounded(.down))))
    let last = max(first + 1, min(count, Int((edges.upperBound - 1e-6).rounded(.up))))
    return first..<last
  }

  /// Writes the weights of one output pixel, without zeros at either end.
  private static func weigh(
    _ range: Range<Int>, within edges: Range<Double>, around center: Double, _ filter: Filter,
    into weights: UnsafeMutablePointer<Float>
  ) -> Taps {
    var taps = Taps(first: range.lowerBound, count: 0)
    var sum = 0.0
    for pixel in range {
      let distance = abs(Double(pixel) + 0.5 - center)
      let weight = filter.weight(at: distance)
      // A zero that rounding made a tiny number would make a copy look like a filter.
      let isZero = abs(weight) < 1e-6
      if isZero, taps.count == 0 {
        taps.first = pixel + 1
        continue
      }
      let share = filter.weighsParts ? Self.share(of: pixel, within: edges) : 1
      weights[taps.count] = isZero ? 0 : Float(weight * share)
      taps.count += 1
      sum += weight * share
    }
    while taps.count > 1, weights[taps.count - 1] == 0 { taps.count -= 1 }
    for index in 0..<taps.count { weights[index] = Float(Double(weights[index]) / sum) }
    return taps
  }

  /// How much of a source pixel lies between two edges; never zero, so that weights can be divided by
  /// their sum.
  private static func share(of pixel: Int, within edges: Range<Double>) -> Double {
    max(1e-6, min(Double(pixel + 1), edges.upperBound) - max(Double(pixel), edges.lowerBound))
  }

  /// The weight of a source pixel by its distance from the middle of the output pixel.
  private enum Filter: Equatable {
    case nearest
    case triangle(Double)
    case catmullRom

    /// Whether a pixel that an edge cuts weighs less. A cubic goes through the values of whole pixels.
    var weighsParts: Bool {
      switch self {
      case .triangle: true
      case .nearest, .catmullRom: false
      }
    }

    /// Weights are zero from this distance on.
    var radius: Double {
      switch self {
      case .nearest: 0.5
      case .triangle(let step): step
      case .catmullRom: 2
      }
    }

    func weight(at distance: Double) -> Double {
      switch self {
      case .nearest: return 1
      case .triangle(let step): return max(0, 1 - distance / step)
      // Keys, "Cubic convolution interpolation for digital image processing" (1981), a = -1/2.
      case .catmullRom where distance < 1:
        return (1.5 * distance - 2.5) * distance * distance + 1
      case .catmullRom where distance < 2:
        return ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
      case .catmullRom: return 0
      }
    }
  }
}
