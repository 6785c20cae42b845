import CommandSupport
import Foundation
import TestSupport
import Testing

@Suite("What a shell and man(1) learn of the command", .timeLimit(.minutes(10)))
struct ShellTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func run(_ words: String...) async throws -> CommandProcess.Outcome {
    try await CommandProcess(words, temporaryFolder: directory.url).run()
  }

  /// What `bash` offers for the last word of a call.
  private func bashOffers(_ words: String...) async throws -> [String] {
    let script = try await run("completions", "bash").output
    let call = """
      COMP_WORDS=(imagecache \(words.map { "'\($0)'" }.joined(separator: " ")))
      COMP_CWORD=\(words.count); _imagecache; printf '%s\\n' "${COMPREPLY[@]}" >&2
      """
    let file = directory.url.appending(path: "complete.bash")
    try Data("\(script)\n\(call)".utf8).write(to: file)
    let outcome = try await CommandProcess(
      ["--version"], temporaryFolder: directory.url, preparation: "bash '\(file.path)'"
    ).run()
    return outcome.errors.split(separator: "\n").map(String.init)
  }

  @Test("are all commands, and the options of each", .enabled(if: access("/bin/bash", X_OK) == 0))
  func bash() async throws {
    #expect(try await bashOffers("").contains("warm"))
    #expect(try await bashOffers("ver") == ["verify"])
    #expect(try await bashOffers("--v") == ["--version"])
    #expect(try await bashOffers("scroll", "--an") == ["--animated"])
    #expect(try await bashOffers("warm", "~/Pictures", "--cap") == ["--capacity"])
    #expect(try await bashOffers("warm", "--an") == [])
    #expect(try await bashOffers("warm", "Pic") == [])
  }

  @Test("are the same in each shell")
  func shells() async throws {
    let zsh = try await run("completions", "zsh").output
    #expect(zsh.hasPrefix("#compdef imagecache\n"))
    #expect(zsh.contains("'warm:Fills image tables with the images of a folder.'"))
    #expect(zsh.contains("'*--format["))
    #expect(zsh.contains("]:NAME\\:WxH\\["))
    let fish = try await run("completions", "fish").output
    #expect(
      fish.contains(
        "complete -c imagecache -n '__fish_seen_subcommand_from export' -l frame -r -d 'one frame"))
    #expect(fish.contains("-f -a clear -d 'Empties one table"))
    // A quote within a word ends no word.
    for script in [zsh, fish] { #expect(script.filter { $0 == "'" }.count % 2 == 0) }
    #expect(try await run("completions", "tcsh").status == 2)
  }

  @Test("is a page with every command, option and example")
  func manual() async throws {
    let outcome = try await run("manual")
    #expect(outcome.status == 0)
    #expect(outcome.output.hasPrefix(".TH IMAGECACHE 1 \"\" \"imagecache "))
    for text in [
      ".SS imagecache warm FOLDER \\-\\-cache DIR", ".B \\-\\-frame N",
      ".B \\-\\-older\\-than DURATION",
      "\\-\\-format row:200x200:bgrx32 \\e\n",
    ] {
      #expect(outcome.output.contains(text), "\(text)")
    }
    // No line of a text is taken for a command.
    let known = [".TH", ".SH", ".SS", ".B", ".TP", ".PP", ".nf", ".fi"]
    for line in outcome.output.split(separator: "\n") where line.hasPrefix(".") {
      #expect(known.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
  }

  /// Texts that mean something else to a shell, to `_arguments` and to man(7).
  private let hostile = [
    (
      name: "go",
      grammar: ArgumentGrammar(
        command: "p go", summary: "It's.", options: [.value("--to", "A:B", help: "the [x]: 'y'")],
        discussion: ".SH no\n\n  'a \\b'\nend")
    )
  ]

  @Test("has quotes, brackets and colons escaped")
  func quotes() {
    let completions = ShellCompletions(program: "p", commands: hostile)
    #expect(completions.script(for: .zsh).contains(#"'go:It'\''s.'"#))
    #expect(completions.script(for: .zsh).contains(#"'--to[the \[x\]\: '\''y'\'']:A\:B:_files'"#))
    #expect(completions.script(for: .fish).contains(#"-l to -r -d 'the [x]: '\''y'\'''"#))
  }

  @Test("has no text that man(1) takes for a command, and keeps the lines of examples")
  func escapes() {
    let page = ManualPage(program: "p", version: "1", introduction: "I.", commands: hostile)
    #expect(page.text.hasSuffix("\\&.SH no\n.PP\n.nf\n  'a \\eb'\n.fi\nend"))
  }

  @Test("is the version that the changelog names")
  func version() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let changelog = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let words = try await run("--version").output.split(whereSeparator: \.isWhitespace)
    #expect(words.first == "imagecache" && words.count == 2)
    #expect(changelog.contains("to be \(words[1]).") || changelog.contains("## \(words[1])"))
  }
}
