import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("The patience of a load's next attempt", .timeLimit(.minutes(10)))
struct HTTPAttemptTests {
  private let original = Original.version(1)

  @Test(
    "begins with the attempt, whatever silence or pause came before it", arguments: [true, false])
  func beginsAnew(_ isSilent: Bool) async throws {
    let (silence, hook) = (Gate(), Gate())
    defer { silence.open() }
    let first =
      isSilent ? HTTPReply([.wait(silence)]) : .status(503, headers: ["Retry-After": "30"])
    let server = try HTTPServer(scripts: ["/a": [first, .ok(original.bytes)]])
    let (clock, hookCalls) = (ManualClock(), Counter())
    var options = HTTPOptions.retrying(1)
    options.idleTimeout = .seconds(2)
    options.modifyRequest = { request in
      hookCalls.increment()
      guard hookCalls.value == 2 else { return request }
      await withTaskCancellationHandler {
        await hook.pass()
      } onCancel: {
        hook.open()
      }
      return request
    }
    let source = URLImageSource(http: options, clock: clock, random: { 0 })
    let task = Task {
      defer {
        clock.end()
        hookCalls.end()
      }
      return try await bytes(server.url("/a"), from: source)
    }
    await server.requests.reaches(1)
    let pause = Duration.seconds(isSilent ? 2 : 30)
    let end = clock.now + pause
    await clock.sleepers { $0 == [end] }
    clock.advance(by: pause)
    await hookCalls.reaches(2)
    // The attempt is watched, and its hook has the whole idle time.
    let limit = clock.now + .seconds(2)
    await clock.sleepers { $0 == [limit] }
    hook.open()
    #expect(try await task.value == original.bytes)
    #expect(server.requests.value == 2)
  }

  @Test("counts no byte that was there before as one that arrived in time")
  func knownBytes() async throws {
    let (gate, original) = (Gate(), original)
    defer { gate.open() }
    let server = try HTTPServer { _ in
      HTTPReply(Array(original.part(1000..<3000, cut: 10).steps.dropLast()) + [.wait(gate)])
    }
    var options = HTTPOptions.limited(idle: 100)
    // 900 bytes in 30 seconds: fewer than are known.
    options.lowestByteRate = 30
    let (clock, arrived) = (ManualClock(), Counter())
    let source = URLImageSource(http: options, clock: clock)
    let known = original.known(1000, from: server)
    let task = Task {
      defer {
        arrived.end()
        clock.end()
      }
      return try await load(server.url("/a"), known: known, from: source) {
        if $0.receivedByteCount == 1010 { arrived.increment() }
      }
    }
    await arrived.reaches(1)
    clock.advance(by: .seconds(30))
    // Awake and asleep again where the rate does not end the load; then its silence would.
    let now = clock.now
    await clock.sleepers { $0.count == 1 && $0.allSatisfy { $0 > now } }
    clock.advance(by: .seconds(100))
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(30))) { try await task.value }
  }
}
