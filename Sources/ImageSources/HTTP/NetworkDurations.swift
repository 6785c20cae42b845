/// The time that the requests of a load took in each of their stages, repetitions and redirects included.
///
/// A request over a connection that is there already spends nothing on the first three.
public struct NetworkDurations: Hashable, Sendable {
  /// In microseconds, and small: each load holds one, and reports are copied.
  private var stages = SIMD8<UInt32>(repeating: 0)

  /// Looking the server's name up.
  public var lookup: Duration { self[0] }

  /// Connecting to the server or to the proxy.
  public var connect: Duration { self[1] }

  /// Agreeing on keys, of https.
  public var handshake: Duration { self[2] }

  /// From there to the first byte of the answer.
  public var firstByte: Duration { self[3] }

  /// From there to its last byte.
  public var transfer: Duration { self[4] }

  private subscript(stage: Int) -> Duration { .microseconds(Int64(stages[stage])) }

  /// Takes the moments at which the stages ended, in microseconds from the beginning of the request: lookup, connect,
  /// handshake, first byte, last byte. One that there was not is zero.
  package init(ends: [Int]) {
    var last = 0
    for (stage, end) in ends.prefix(5).enumerated() where end > last {
      stages[stage] = UInt32(clamping: end - last)
      last = end
    }
  }

  package static func + (first: Self, second: Self) -> Self {
    var sum = first
    sum.stages = first.stages &+ second.stages
    return sum
  }
}
