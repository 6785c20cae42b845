/// A page for man(1) about a program, made of the grammars of its commands; man(7) has the language.
package struct ManualPage: Sendable {
  private let program: String
  private let version: String
  private let introduction: String
  private let commands: [(name: String, grammar: ArgumentGrammar)]

  /// - Parameter introduction: What the program is for, and how it ends.
  package init(
    program: String, version: String, introduction: String,
    commands: [(name: String, grammar: ArgumentGrammar)]
  ) {
    (self.program, self.version, self.commands) = (program, version, commands)
    self.introduction = introduction
  }

  package var text: String {
    let title = "\(program.uppercased()) 1 \"\" \"\(program) \(version)\""
    return """
      .TH \(title)
      .SH NAME
      \(program) \\- image tables of decoded images
      .SH SYNOPSIS
      .B \(program)
      COMMAND [ARGUMENTS]
      .SH DESCRIPTION
      \(Self.paragraphs(introduction))
      .SH COMMANDS
      \(commands.map { Self.section($0.grammar) }.joined(separator: "\n"))
      """
  }

  private static func section(_ grammar: ArgumentGrammar) -> String {
    let rows = grammar.rows.map { name, help in
      ".TP\n.B \(line(name))\n\(paragraphs(help, keepsLines: help.contains("\n")))"
    }
    return """
      .SS \(line(grammar.synopsis))
      \(paragraphs(grammar.summary))
      \(rows.joined(separator: "\n"))
      .PP
      \(paragraphs(grammar.discussion))
      """
  }

  /// Text that is filled, but for its indented lines.
  private static func paragraphs(_ text: String, keepsLines: Bool = false) -> String {
    var (lines, isKept) = ([String](), false)
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let keeps = !part.isEmpty && (keepsLines || part.hasPrefix(" "))
      if keeps != isKept, !part.isEmpty {
        lines.append(keeps ? ".nf" : ".fi")
        isKept = keeps
      }
      lines.append(part.isEmpty ? ".PP" : line(String(part)))
    }
    return (isKept ? lines + [".fi"] : lines).joined(separator: "\n")
  }

  /// A line in which no character is a command.
  private static func line(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}
