import Player
import TestSupport
import Testing

@Suite("A walk", .timeLimit(.minutes(20)))
struct WalkTests {
  @Test("finds nothing in its first steps; `imagecache-torture play` goes on")
  func findsNothing() async throws {
    let folder = try TemporaryDirectory()
    // Beside thousands of tests each task waits for its turn: the steps end the walk, and no time does.
    var options = Walk.Options(seed: 71, duration: .seconds(1_000))
    // All plans of sessions.
    (options.until, options.sessionLength, options.patience) = (210, 35, .seconds(500))
    let finds = Finds { print($0) }
    try await Walk(in: folder.url, options, finds).run()
    #expect(finds.total == 0, "\(finds.lines.joined(separator: "\n"))")
    #expect(finds.value("steps") == 210 && finds.value("pictures") > 50)
  }
}
