/// What must be known of a slot to lease or to write it, in one word, so that looking and deciding
/// are one atomic step.
///
/// ```
/// 63                36   35       34       33      32   31                0
/// |      hits       | retired | claimed | proven | live |      leases      |
/// ```
///
/// - live: the index finds a picture in the slot.
/// - proven: this process has written the slot, or has checked every byte of it.
/// - claimed: a writer has the slot for itself.
/// - retired: the table does not read this file any more; leases run out.
struct SlotState: Hashable {
  var bits: UInt64

  static let lease: UInt64 = 1
  static let leases: UInt64 = 0xffff_ffff
  static let live: UInt64 = 1 << 32
  static let proven: UInt64 = 1 << 33
  static let claimed: UInt64 = 1 << 34
  static let retired: UInt64 = 1 << 35
  static let hit: UInt64 = 1 << 36
  static let hits: UInt64 = ~0 << 36
  /// Set long before the count of hits overflows, for somebody to carry it over.
  static let manyHits: UInt64 = 1 << 63

  var leaseCount: Int { Int(bits & Self.leases) }
  var hitCount: Int { Int(bits >> 36) }
  var isLive: Bool { bits & Self.live != 0 }
  var isProven: Bool { bits & Self.proven != 0 }
  var isRetired: Bool { bits & Self.retired != 0 }

  /// True when the picture may be shown without anybody's leave.
  @inline(__always)
  var isOpen: Bool {
    bits & (Self.live | Self.proven | Self.claimed | Self.retired | Self.manyHits)
      == Self.live | Self.proven
  }

  /// The state after a hit on an open slot.
  @inline(__always)
  var afterHit: SlotState { SlotState(bits: bits &+ (Self.lease | Self.hit)) }

  /// The state in which a writer has the slot for itself, and nobody finds it; `nil` as long as
  /// anybody else has a part in it.
  var claimed: SlotState? {
    guard bits & (Self.leases | Self.claimed | Self.retired) == 0 else { return nil }
    return SlotState(bits: bits & ~(Self.live | Self.proven) | Self.claimed)
  }
}
