/// Which openings of a table want its file to be nobody's: a state machine without I/O.
///
/// ```
///          the first suspends                   the last resumes
/// holding ────────────────────> suspended ────────────────────────> holding
///          answer: let go                       answer: take back
/// ```
///
/// An opening that is closed counts as resumed, but nothing is taken back for those who close: the
/// next change does that, as for any second opener.
///
/// Invariants:
/// 1. The table is suspended exactly while there is an opening that suspended it and has neither
///    resumed nor closed; how often it did so makes no difference.
/// 2. `letGo` and `takeBack` are answered in turn, `letGo` first, unless closing ended a suspension.
struct Suspension {
  /// What is to be done about the file.
  enum Step {
    case nothing
    /// Give the lock up, and own no file until it is taken back.
    case letGo
    /// Become the owner, if nobody else is.
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
