import CommandSupport

/// Prints a script that completes words of a call in a shell.
struct CompletionsCommand: Command {
  static let name = "completions"

  static let grammar = ArgumentGrammar(
    command: "imagecache completions",
    summary: "Prints a script that completes commands and options in a shell.",
    operands: [.init("SHELL", help: "bash, zsh or fish")],
    discussion: """
        imagecache completions bash > ~/.local/share/bash-completion/completions/imagecache
        imagecache completions zsh > "${fpath[1]}/_imagecache"
        imagecache completions fish > ~/.config/fish/completions/imagecache.fish
      """)

  private let shell: ShellCompletions.Shell

  init(_ arguments: Arguments) throws {
    guard let shell = ShellCompletions.Shell(rawValue: arguments.operands[0]) else {
      throw UsageError(
        "There are completions for bash, zsh and fish, not \"\(arguments.operands[0])\".")
    }
    self.shell = shell
  }

  func run() -> ExitStatus {
    let completions = ShellCompletions(
      program: "imagecache", commands: ImageCacheCommand.grammars)
    Console.print(completions.script(for: shell))
    return .success
  }
}
