/// All that leasing or claiming a slot depends on, in one word, so that checking and changing it
/// are one atomic step.
///
/// ```
/// 63                36   35       34       33      32   31                0
/// |      hits       | retired | claimed | verified | live |      leases      |
/// ```
///
/// - live: hits may find the slot.
/// - verified: this process has written the slot, or has checked every byte of it.
/// - claimed: a writer owns the slot.
/// - retired: the slot's file was replaced; leases go on, and none begins.
/// - hits: for the statistics; they begin anew after 2^28.
struct SlotState: Hashable {
  var bits: UInt64

  static let lease: UInt64 = 1
  static let leases: UInt64 = 0xffff_ffff
  static let live: UInt64 = 1 << 32
  static let verified: UInt64 = 1 << 33
  static let claimed: UInt64 = 1 << 34
  static let retired: UInt64 = 1 << 35
  static let hit: UInt64 = 1 << 36
  static let hits: UInt64 = ~0 << 36

  var leaseCount: Int { Int(bits & Self.leases) }
  var hitCount: Int { Int(bits >> 36) }
  var isLive: Bool { bits & Self.live != 0 }
  var isVerified: Bool { bits & Self.verified != 0 }
  var isRetired: Bool { bits & Self.retired != 0 }

  /// True when a hit may lease the slot without the index.
  @inline(__always)
  var isOpen: Bool {
    bits & (Self.live | Self.verified | Self.claimed | Self.retired) == Self.live | Self.verified
  }

  /// The state after a hit on an open slot.
  @inline(__always)
  var afterHit: SlotState { SlotState(bits: bits &+ (Self.lease | Self.hit)) }

  /// The state after a claim; `nil` for a slot that is leased, claimed or retired.
  var claimed: SlotState? {
    guard bits & (Self.leases | Self.claimed | Self.retired) == 0 else { return nil }
    return SlotState(bits: bits & ~(Self.live | Self.verified) | Self.claimed)
  }
}
