#if GTK && canImport(CGTK)
  import CGTK
  import Locking

  /// Brings jobs to GTK's thread, in order, a few milliseconds at a time.
  ///
  /// A hundred images that come at once must not cost a frame: jobs run in rounds, and between two rounds
  /// GTK may draw. Swift's main actor need not run on GLib's loop for that.
  ///
  /// Invariant: a round is scheduled, or runs, exactly while `isScheduled`; no job waits otherwise.
  package final class IdleDelivery: Sendable {
    package typealias Job = @MainActor @Sendable () -> Void

    package enum Turn: Sendable {
      /// Before the next drawing, which then shows what the jobs have changed.
      case beforeDrawing
      /// In turns with drawing, so that neither waits for the other to have nothing to do.
      case besideDrawing
    }

    private struct State {
      var arrived: [Job] = []
      /// The oldest job last.
      var next: [Job] = []
      var isScheduled = false

      mutating func take() -> Job? {
        if next.isEmpty {
          next = arrived.reversed()
          arrived = []
        }
        if next.isEmpty { isScheduled = false }
        return next.popLast()
      }
    }

    package static let shared = IdleDelivery(
      budget: standardBudget, now: { Int64(g_get_monotonic_time()) }, schedule: scheduleShared)

    private static func scheduleShared(_ turn: Turn) {
      // GTK lays out at 110 and draws at 120 (`GTK_PRIORITY_RESIZE`, `GDK_PRIORITY_REDRAW`). A round that
      // came back at 115 at once would keep GTK from drawing until no job is left, and one behind 120 would
      // never come while frames take longer than they may. Of the sources of one priority GLib runs each
      // one that is ready before it looks again.
      g_idle_add_full(
        turn == .beforeDrawing ? 115 : GDK_PRIORITY_REDRAW,
        { _ in
          MainActor.assumeIsolated { IdleDelivery.shared.runRound() }
          return false.asBoolean
        }, nil, nil)
    }

    /// Microseconds; less than half of a frame at 120 Hz.
    private static let standardBudget: Int64 = 4_000

    private let budget: Int64
    private let now: @Sendable () -> Int64
    private let schedule: @Sendable (Turn) -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - budget: No job begins that many microseconds after its round has.
    ///   - now: A clock in microseconds.
    ///   - schedule: Has ``runRound()`` called once, on the main thread, and never inside this call.
    package init(
      budget: Int64, now: @escaping @Sendable () -> Int64,
      schedule: @escaping @Sendable (Turn) -> Void
    ) {
      (self.budget, self.now, self.schedule) = (budget, now, schedule)
    }

    /// Runs a job on the main thread after this call, from any thread.
    package func run(_ job: @escaping Job) {
      let isFirst = state.withLock { state in
        state.arrived.append(job)
        defer { state.isScheduled = true }
        return !state.isScheduled
      }
      if isFirst { schedule(.beforeDrawing) }
    }

    @MainActor package func runRound() {
      let end = now() + budget
      while let job = state.withLock({ $0.take() }) {
        job()
        if now() >= end { return schedule(.besideDrawing) }
      }
    }
  }
#endif
