import CommandSupport
import Foundation

/// Chooses the method that the first word names; runs as a child if the word names a role.
@main
struct TortureCommand {
  private static let methods: [any TortureMethod.Type] = [
    KillMethod.self, IndexMethod.self, PowerMethod.self, FaultsMethod.self, RacesMethod.self,
    ProcessesMethod.self, WorkersMethod.self, FramesMethod.self, LoadsMethod.self,
    OriginalKillMethod.self,
    OriginalPowerMethod.self, OriginalFaultsMethod.self, OriginalProcessesMethod.self,
    SoakMethod.self, ControlsMethod.self, PlayMethod.self,
  ]

  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == ChildRole.word {
      exit(await ChildRole.run(Array(words.dropFirst())))
    }
    await Interruption.cancelling { await run(words) }.end()
  }

  private static func run(_ words: [String]) async -> ExitStatus {
    guard let name = words.first, name != "--help", name != "-h", name != "help" else {
      Console.print(help)
      return words.isEmpty ? .usage : .success
    }
    guard let method = methods.first(where: { $0.name == name }) else {
      Console.note("imagecache-torture: There is no method \"\(name)\"; --help lists them.")
      return .usage
    }
    return await method.grammar.run(words.dropFirst(), as: "imagecache-torture") { arguments in
      let given = try arguments.integer("--seed", in: 0...Int.max)
      let seed = given.map { UInt64($0) } ?? UInt64.random(in: 0...1 << 32)
      let start = ContinuousClock.now
      let findings = try await method.init(arguments, seed: seed).run()
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      Console.print(findings.summary + String(format: "; %.1f s", seconds))
      return findings.faultCount == 0 ? .success : .failure
    }
  }

  private static var help: String {
    let width = methods.map { $0.name.count }.max() ?? 0
    let list = methods.map { "  \($0.name.padded(to: width))  \($0.grammar.summary)" }
    return """
      imagecache-torture tries to make image tables and stores of originals show a wrong image.

      Usage: imagecache-torture METHOD [ARGUMENTS]

      \(list.joined(separator: "\n"))

      `imagecache-torture METHOD --help` explains each. Docs/Reliability.md says what they prove.
      """
  }
}
