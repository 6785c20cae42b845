import CommandSupport
import FastImageCache

/// Prints the page for man(1).
struct ManualCommand: Command {
  static let name = "manual"

  static let grammar = ArgumentGrammar(
    command: "imagecache manual",
    summary: "Prints the manual page of all commands.",
    discussion: """
        imagecache manual | man -l -
        imagecache manual > ~/.local/share/man/man1/imagecache.1
      """)

  init(_ arguments: Arguments) {}

  func run() -> ExitStatus {
    let page = ManualPage(
      program: "imagecache", version: LibraryVersion.text,
      introduction: ImageCacheCommand.introduction + "\n\n" + ImageCacheCommand.advice,
      commands: ImageCacheCommand.grammars)
    Console.print(page.text)
    return .success
  }
}
