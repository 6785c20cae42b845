#if !canImport(Darwin)
  import Foundation
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import ImageSources

  @Suite("A bound on bytes per second", .timeLimit(.minutes(10)))
  struct CurlRateQueueTests {
    let start = ContinuousClock.now
    /// 1000 bytes per second.
    var queue: CurlRateQueue<Int>

    init() { queue = CurlRateQueue(byteRate: 1000, now: start) }

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
      start + .milliseconds(milliseconds)
    }

    @Test("lets a piece cost the time that its bytes take")
    mutating func costs() {
      #expect(queue.pause(at(0)) == nil)
      let taken = [(500, 0), (200, 499), (200, 500), (1, 699), (1, 700)].map { count, time in
        let isTaken = queue.take(count, by: 1, at(time))
        // Who was refused is let on when it is time.
        _ = queue.letOn(at(500))
        return isTaken
      }
      #expect(taken == [true, false, true, false, false])
      #expect(queue.pause(at(699)) == .milliseconds(1) && queue.pause(at(800)) == .zero)
      let next = [queue.letOn(at(699)), queue.letOn(at(700))]
      let isTaken = queue.take(1, by: 1, at(700))
      #expect(next == [nil, 1] && isTaken)
      #expect(queue.pause(at(700)) == nil)
    }

    @Test("gives nothing back for the time in which nothing came")
    mutating func keepsNothing() {
      let taken = [0, 10_000, 10_099, 10_100].map { queue.take(100, by: $0, at($0)) }
      // The last one comes in time, and behind the one that waits.
      #expect(taken == [true, true, false, false])
    }

    @Test("lets all downloads take their pieces in turn, before others")
    mutating func takesTurns() {
      var order: [Int] = []
      _ = queue.take(100, by: 0, at(0))
      let early = [1, 2, 3, 1].map { queue.take(100, by: $0, at(50)) }
      #expect(early == [false, false, false, false])
      for time in stride(from: 100, through: 600, by: 100) {
        let isNewTaken = queue.take(100, by: 9, at(time))
        #expect(!isNewTaken)
        while let download = queue.letOn(at(time)) {
          let isTaken = queue.take(100, by: download, at(time))
          #expect(isTaken)
          order.append(download)
          if download < 3 { _ = queue.take(100, by: download, at(time)) }
        }
      }
      #expect(order == [1, 2, 3, 9, 1, 2])
    }

    @Test("lets nobody wait for a download that has ended")
    mutating func leaves() {
      for download in [1, 2, 3] { _ = queue.take(100, by: download, at(0)) }
      queue.leave(2)
      let next = queue.letOn(at(100))
      queue.leave(3)
      let isTaken = queue.take(100, by: 4, at(100))
      let last = queue.letOn(at(200))
      #expect(next == 3 && isTaken && last == nil)
    }

    private func options(_ byteRate: Int) -> HTTPOptions {
      var options = HTTPOptions.patient
      options.highestByteRate = byteRate
      return options
    }

    @Test("brings all bytes of downloads that wait for each other")
    func bringsAll() async throws {
      let bodies = (0..<3).map {
        Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0 / 7) }) + [$0]
      }
      let server = try HTTPServer { .ok(bodies[Int($0.path.dropFirst()) ?? 0]) }
      let source = URLImageSource(http: options(1_000_000))
      try await withThrowingTaskGroup(of: (Int, Data).self) { group in
        for number in bodies.indices {
          group.addTask { (number, try await bytes(server.url("/\(number)"), from: source)) }
        }
        for try await (number, body) in group { #expect(body == bodies[number]) }
      }
    }

    @Test("holds back what comes behind a piece, for all downloads of a source")
    func holdsBack() async throws {
      let server = try HTTPServer(["/a": .ok(Data(count: 100_000)), "/b": .ok(Data(count: 10))])
      // A piece of 1024 bytes takes a quarter of an hour, and the clock of the time limit stands still.
      var options = options(1)
      options.idleTimeout = .seconds(2)
      let clock = ManualClock()
      let source = URLImageSource(http: options, clock: clock)
      let (arrived, answered) = (Counter(), Counter())
      let first = Task {
        defer { arrived.end() }
        return try await bytes(server.url("/a"), from: source) {
          if $0.receivedByteCount > 0 { arrived.increment() }
        }
      }
      await arrived.reaches(1)
      let second = Task {
        defer { answered.end() }
        return try await bytes(server.url("/b"), from: source) { _ in answered.increment() }
      }
      await answered.reaches(1)
      clock.advance(by: .seconds(2))
      let error = ImageSourceError.timedOut(after: .seconds(2))
      await #expect(throws: error) { try await first.value }
      await #expect(throws: error) { try await second.value }
    }
  }
#endif
