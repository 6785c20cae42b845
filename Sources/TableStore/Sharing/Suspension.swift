/// Decides when a table lets its file go and takes it back, by the openings that suspended it: a
/// state machine without I/O.
///
/// ```
///          the first suspends                   the last resumes
/// holding ────────────────────> suspended ────────────────────────> holding
///          answer: let go                       answer: take back
/// ```
///
/// A closed opening counts as resumed, but closing takes nothing back: the next change does, as in
/// any second opener.
///
/// Invariants:
/// 1. The table is suspended exactly while there is an opening that suspended it and has neither
///    resumed nor closed; suspending twice is suspending once.
/// 2. `letGo` and `takeBack` are answered in turn, `letGo` first, unless closing ended a
///    suspension.
struct Suspension {
  /// The step that the table takes next.
  enum Step {
    case nothing
    /// Give the lock up, and own no file until it is taken back.
    case letGo
    /// Become the owner, if there is none.
    case takeBack
  }

  private var openings: Set<ObjectIdentifier> = []

  var isSuspended: Bool { !openings.isEmpty }

  mutating func suspend(_ opening: ObjectIdentifier) -> Step {
    let wasSuspended = isSuspended
    openings.insert(opening)
    return wasSuspended ? .nothing : .letGo
  }

  mutating func resume(_ opening: ObjectIdentifier) -> Step {
    guard openings.remove(opening) != nil else { return .nothing }
    return isSuspended ? .nothing : .takeBack
  }

  mutating func close(_ opening: ObjectIdentifier) { openings.remove(opening) }
}
