/// How a thread's work ranks beside the other threads of the process, once chosen for good: on Linux an
/// ordinary user cannot raise a thread again.
///
/// On a machine that is not busy all levels are equally fast.
enum WorkLevel: CaseIterable, Sendable {
  /// Work that waits, stores or answers, and computing that takes nothing from others.
  case normal
  /// Computing that a caller waits for.
  case beside
  /// Computing that may not be needed: prefetches and previews.
  case behind

  /// By how much a thread is nicer than the main thread, as nice(1) counts.
  ///
  /// On a core that both want, a thread that is 5 nicer has a quarter of the time, and one that is 10 nicer
  /// a tenth (sched(7): a factor of 1.25 for each). A thread that is 5 nicer leaves the frames of a window
  /// alone; one at 10 leaves three quarters to one at 5.
  var niceness: Int32 {
    switch self {
    case .normal: 0
    case .beside: 5
    case .behind: 10
    }
  }
}
