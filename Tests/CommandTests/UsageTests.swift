import Foundation
import TestSupport
import Testing

@Suite("The command line", .timeLimit(.minutes(10)))
struct UsageTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func run(_ words: String...) async throws -> CommandProcess.Outcome {
    try await CommandProcess(words, temporaryFolder: directory.url).run()
  }

  @Test(
    "teaches each command when asked for help, and says what commands there are without a word",
    arguments: ["scroll", "warm", "fetch", "inspect", "export", "verify", "clear"])
  func commandHelp(command: String) async throws {
    let outcome = try await run(command, "--help")
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    #expect(outcome.output.contains("imagecache \(command)"))
    let without = try await run()
    #expect(without.status == 2 && without.errors.contains(command))
  }

  @Test(
    "is refused with status 2 in words that name the bad value",
    arguments: [
      (["scrol"], "\"scrol\""), (["scroll", "--size", "20"], "\"20\""),
      (["scroll", "--rows", "1"], "\"1\""),
      (["scroll", "/no/such/folder"], "/no/such/folder"),
      (["scroll", "--report", "/no/such/folder/x.html"], "/no/such/folder/x.html"),
      (["scroll", "--slow-network", "fast"], "\"fast\""),
      (["scroll", "--slow-network=9", "--speed=9"], "--speed"),
      (["warm", "."], "--cache"), (["warm", ".", "--cache", "c"], "--format"),
      (["warm", ".", "--cache", "c", "--format", "a:1x1:rgb"], "\"rgb\""),
      (["warm", ".", "--cache=c", "--format=a:1x1", "--format=a:2x2"], "\"a\""),
      (
        ["warm", ".", "--cache=c", "--format=a:1x1", "--capacity=4194305"],
        "--capacity is \"4194305\""
      ),
      (["warm", ".", "--cache=c", "--format=a:1x1", "--decode-memory=5x"], "\"5x\""),
      (["fetch", "--cache=c", "--format=a:1x1"], "URL"),
      (["fetch", "http://h/a", "--cache=c", "--format=a:1x1", "--originals=5x"], "\"5x\""),
      (["inspect", "/no/such/folder"], "/no/such/folder"),
      (["export", "d", "n", "e"], "needs OUT: the file to write"),
      (["export", "d", "n", "e", "a.gif"], "\"a.gif\" has no extension"),
      (["warm", ".", "--cache=c", "--format"], "--format needs a value: NAME:WxH"),
      (["verify"], "DIR"), (["clear", "d", "row", "--originals"], "--originals"),
    ])
  func refusals(words: [String], named: String) async throws {
    let outcome = try await CommandProcess(words, temporaryFolder: directory.url).run()
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(named))
    #expect(!outcome.errors.contains("\\n"))
    #expect(outcome.output.isEmpty)
  }

  #if os(Linux)
    @Test("fails when what it prints is lost, but not when nobody reads it")
    func lostOutput() async throws {
      func run(_ script: String) async throws -> CommandProcess.Outcome {
        try await CommandProcess(
          ["--help"], temporaryFolder: directory.url, preparation: script
        ).run()
      }
      let full = try await run("exec >/dev/full")
      #expect(full.status == 1)
      let reason = "Not all results could be written to standard output: the disk is full."
      #expect(full.errors == "imagecache: \(reason)\n")
      let closed = try await run(
        #"mkfifo "$TMPDIR/pipe"; exec 3<>"$TMPDIR/pipe" >"$TMPDIR/pipe" 3>&-"#)
      #expect(closed.status == 0)
      #expect(closed.errors.isEmpty)
    }
  #endif
}
