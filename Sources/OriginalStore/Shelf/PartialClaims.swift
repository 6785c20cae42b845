/// Which load has the partial of an original, and how far it has written it; pure.
///
/// ```
/// nobody's ──take──> taken ──open──> open (a file, so many blocks) ──close──> taken
///     ^                └──── revoke ──> over <── revoke ────┘
///     └──────────────── giveBack, from any of them ────────────
/// ```
///
/// Invariants:
/// 1. A name has one claim at most. Only the load that has it reads, writes and finishes the partial.
/// 2. A claim that is over stays with its load: a load whose partial made room, or met a full disk, begins
///    no other. When the load is over, the claim is nobody's.
/// 3. Blocks are of one arrival. Another arrival of the same load closes the file, and whatever is on disk
///    is compared again.
struct PartialClaims {
  /// A partial that is being written.
  struct Writing {
    let file: PartialFile
    /// Tells the arrivals of a load apart.
    let arrival: Int
    var blockCount: Int
  }

  private enum Stage {
    case taken
    case open(Writing)
    case over
  }

  private struct Claim {
    let load: Int
    var stage = Stage.taken

    /// Leaves the stage, and hands out the file to be closed outside of all locks.
    mutating func leave(for next: Stage) -> PartialFile? {
      defer { stage = next }
      if case .open(let writing) = stage { return writing.file } else { return nil }
    }
  }

  private var claims: [OriginalDigest: Claim] = [:]

  /// The load that has it.
  func load(of key: OriginalDigest) -> Int? { claims[key]?.load }

  /// Gives a load the claim, if nobody has it.
  ///
  /// - Returns: Whether the load has it now, and may use it.
  mutating func take(_ key: OriginalDigest, for load: Int) -> Bool {
    let claim = claims[key] ?? Claim(load: load)
    claims[key] = claim
    if case .over = claim.stage { return false }
    return claim.load == load
  }

  /// The partial that a load is writing, if it is open for that arrival.
  func writing(_ key: OriginalDigest, _ load: Int, arrival: Int) -> Writing? {
    guard let claim = claims[key], claim.load == load, case .open(let writing) = claim.stage,
      writing.arrival == arrival
    else { return nil }
    return writing
  }

  // Files that are not used any more are handed out: closing them is a system call.

  /// Notes what a claimed partial has on disk.
  mutating func open(_ key: OriginalDigest, _ writing: Writing) -> PartialFile? {
    guard let claim = claims[key] else { return nil }
    if case .over = claim.stage { return nil }
    return claims[key]?.leave(for: .open(writing))
  }

  /// Closes a partial, which stays its load's.
  mutating func close(_ key: OriginalDigest) -> PartialFile? {
    guard case .open? = claims[key]?.stage else { return nil }
    return claims[key]?.leave(for: .taken)
  }

  mutating func closeAll() -> [PartialFile] { Array(claims.keys).compactMap { close($0) } }

  /// Lets a partial go whose load may go on.
  mutating func revoke(_ key: OriginalDigest) -> PartialFile? { claims[key]?.leave(for: .over) }

  /// Ends the claim of a load, if it has one.
  mutating func giveBack(
    _ key: OriginalDigest, of load: Int
  ) -> (had: Bool, wasOver: Bool, file: PartialFile?) {
    guard var claim = claims[key], claim.load == load else { return (false, false, nil) }
    claims[key] = nil
    if case .over = claim.stage { return (true, true, nil) }
    return (true, false, claim.leave(for: .over))
  }
}
