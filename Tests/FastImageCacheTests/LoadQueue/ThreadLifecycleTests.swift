#if os(Linux)
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import LoadQueue

  @Suite("The course of a thread, played against a plain model,")
  struct ThreadCourseTests {
    /// What can happen, and what its caller and the thread do about it at once or later.
    private enum Event: CaseIterable {
      case expect, add, addExpected, addQuietly, close
      /// The system has no thread: the caller takes the job back, or adds the whole of what it expected.
      case addInVain, expectInVain
      /// The thread goes on, in whichever phase it is.
      case threadGoesOn
      /// A thread that sleeps has slept for as long as it may.
      case timeOut
    }

    /// A thread as the system knows it.
    private enum SystemThread { case none, ready, asleep }

    private struct Play {
      var course = ThreadLifecycle<Int>()
      var thread = SystemThread.none
      /// Signals that no sleep has taken.
      var signals = 0
      var promised = false
      var closed = false
      var added = 0
      var ran: [Int] = []

      func isPossible(_ event: Event) -> Bool {
        switch event {
        case .expect: !promised && !closed
        case .add: !closed && added < 3
        case .addExpected: promised
        case .addQuietly: promised && added < 3
        case .addInVain: !closed && !promised && thread == .none
        case .expectInVain: !closed && !promised && thread == .none && added < 3
        case .close: !closed
        case .threadGoesOn: thread == .ready || thread == .asleep && signals > 0
        case .timeOut: thread == .asleep
        }
      }

      /// - Returns: What is wrong afterwards.
      mutating func apply(_ event: Event) -> String? {
        switch event {
        case .expect:
          promised = true
          return perform(course.expect())
        case .add:
          added += 1
          return perform(course.add(added))
        case .addExpected:
          promised = false
          added += 1
          return perform(course.add(added, isExpected: true))
        case .addQuietly:
          added += 1
          course.addQuietly(added)
        case .addInVain:
          guard case .begin = course.add(added + 1) else { return "a job has no thread" }
          if course.takeBack() != [added + 1] { return "a job was not taken back" }
        case .expectInVain:
          guard case .begin = course.expect() else { return "a promise has no thread" }
          if !course.takeBack().isEmpty { return "a job came from nowhere" }
          added += 1
          return perform(course.add(added, isExpected: true))
        case .close:
          closed = true
          return perform(course.close())
        case .threadGoesOn:
          if thread == .asleep { signals -= 1 }
          return take(course.next())
        case .timeOut: return take(course.nextAfterTimeout())
        }
        return nil
      }

      private mutating func perform(_ call: ThreadLifecycle<Int>.Call) -> String? {
        switch call {
        case .nothing: break
        case .wake: signals += 1
        case .begin:
          if thread != .none { return "two threads" }
          thread = .ready
        }
        return nil
      }

      private mutating func take(_ turn: ThreadLifecycle<Int>.Turn) -> String? {
        switch turn {
        case .run(let job):
          thread = .ready
          ran.append(job)
          if ran != Array(1...ran.count) { return "\(ran) ran in this order" }
        case .sleep: thread = .asleep
        case .end:
          thread = .none
          if ran.count < added { return "the thread ended before its jobs" }
          if promised { return "the thread ended before the promised job" }
        }
        return nil
      }

      /// Lets the thread go on until it has nothing to do.
      func problemAtRest() -> String? {
        var rest = self
        for _ in 0..<20 {
          guard rest.isPossible(.threadGoesOn) else { break }
          if let problem = rest.apply(.threadGoesOn) { return problem }
        }
        // A quiet job may wait for the promised one.
        if rest.ran.count < rest.added, !promised { return "a job waits for ever" }
        if promised, rest.thread == .none { return "nobody waits for the promised job" }
        if closed, !promised, rest.thread != .none { return "the thread outlives its end" }
        return nil
      }
    }

    private func explore(_ play: Play, _ events: [Event] = []) -> String? {
      if let problem = play.problemAtRest() { return "\(problem) after \(events)" }
      guard events.count < 8 else { return nil }
      for event in Event.allCases where play.isPossible(event) {
        var next = play
        if let problem = next.apply(event) { return "\(problem) after \(events + [event])" }
        if let problem = explore(next, events + [event]) { return problem }
      }
      return nil
    }

    @Test("never has two threads, a lost job, or a thread without end")
    func all() { #expect(explore(Play()) == nil) }
  }
#endif
