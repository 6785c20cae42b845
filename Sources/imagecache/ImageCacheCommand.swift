import CommandSupport
import FastImageCache

/// Chooses the command that the first word names, and turns its errors into messages and an exit
/// status.
@main
struct ImageCacheCommand {
  private static let commands: [any Command.Type] = [
    ScrollCommand.self, WarmCommand.self, FetchCommand.self, InspectCommand.self,
    ExportCommand.self, VerifyCommand.self, ClearCommand.self, CompletionsCommand.self,
    ManualCommand.self,
  ]

  static var grammars: [(name: String, grammar: ArgumentGrammar)] {
    commands.map { ($0.name, $0.grammar) }
  }

  static func main() async {
    let words = CommandLine.words
    await Interruption.cancelling { await run(words) }.end()
  }

  private static func run(_ words: [String]) async -> ExitStatus {
    guard let name = words.first, name != "--help", name != "-h", name != "help" else {
      if words.isEmpty {
        Console.note(help)
        return .usage
      }
      Console.print(help)
      return .success
    }
    if name == "--version" {
      Console.print("imagecache \(LibraryVersion.text)")
      return .success
    }
    guard let command = commands.first(where: { $0.name == name }) else {
      Console.note("imagecache: There is no command \"\(name)\". `imagecache --help` lists them.")
      return .usage
    }
    return await command.grammar.run(
      words.dropFirst(), as: "imagecache", text: FailureText.text
    ) { arguments in try await command.init(arguments).run() }
  }

  private static var help: String {
    let width = commands.map { $0.name.count }.max() ?? 0
    let list = commands.map { "  \($0.name.padded(to: width))  \($0.grammar.summary)" }
    return """
      \(introduction)

      Usage: imagecache COMMAND [ARGUMENTS]

      \(list.joined(separator: "\n"))

      \(advice)
      """
  }

  static let introduction = """
    imagecache keeps decoded images in memory-mapped image tables, so that showing one again
    takes no decoding and no copy.
    """

  static let advice = """
    Begin with `imagecache scroll`: it draws photographs of its own and shows what a table saves.
    Then try your own: `imagecache scroll ~/Pictures --report scroll.html`.
    `imagecache COMMAND --help` explains each, and `imagecache --version` tells the version.

    Results go to standard output and everything else to standard error. The exit status is 0 when
    all went well, 1 when something failed or was found damaged, 2 for a call that cannot be
    carried out, and 130 after Ctrl-C.
    """
}
