/// Scripts that complete a program's words in a shell, made of the grammars of its commands.
package struct ShellCompletions: Sendable {
  package enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
  }

  private let program: String
  private let commands: [(name: String, grammar: ArgumentGrammar)]

  package init(program: String, commands: [(name: String, grammar: ArgumentGrammar)]) {
    (self.program, self.commands) = (program, commands)
  }

  package func script(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  private var bash: String {
    let cases = commands.map { command in
      let options = command.grammar.options.map(\.name) + ["--help"]
      return "    \(command.name)) words=\"\(options.joined(separator: " "))\" ;;"
    }
    return """
      _\(program)() {
        local word=${COMP_WORDS[COMP_CWORD]} words=
        COMPREPLY=()
        if ((COMP_CWORD == 1)); then
          COMPREPLY=($(compgen -W "\(names) --help --version" -- "$word"))
          return
        fi
        [[ $word == -* ]] || return
        case ${COMP_WORDS[1]} in
      \(cases.joined(separator: "\n"))
        esac
        COMPREPLY=($(compgen -W "$words" -- "$word"))
      }
      complete -o default -F _\(program) \(program)
      """
  }

  private var zsh: String {
    let list = commands.map { "    \(Self.quoted("\($0.name):\($0.grammar.summary)"))" }
    let cases = commands.map { command in
      let options = command.grammar.options.map { option in
        let repeats = option.isRepeatable ? "*" : ""
        let value = option.placeholder.map { ":\(Self.escaped($0)):_files" } ?? ""
        return Self.quoted(
          "\(repeats)\(option.name)[\(Self.escaped(option.help.firstLine))]\(value)")
      }
      let words =
        options + [Self.quoted("--help[prints a text about the command]"), "'*:file:_files'"]
      return "  \(command.name)) _arguments \(words.joined(separator: " \\\n    ")) ;;"
    }
    return """
      #compdef \(program)
      if ((CURRENT == 2)); then
        local -a commands=(
      \(list.joined(separator: "\n"))
        )
        _describe command commands
        return
      fi
      shift words
      ((CURRENT--))
      case $words[1] in
      \(cases.joined(separator: "\n"))
      esac
      """
  }

  private var fish: String {
    let isFirst = "not __fish_seen_subcommand_from \(names)"
    var lines = [
      "-l help -d 'prints a text about the program'", "-l version -d 'prints the version'",
    ]
    .map { "complete -c \(program) -n '\(isFirst)' \($0)" }
    for (name, grammar) in commands {
      lines.append(
        "complete -c \(program) -n '\(isFirst)' -f -a \(name) -d \(Self.quoted(grammar.summary))")
      for option in grammar.options {
        lines.append(
          "complete -c \(program) -n '__fish_seen_subcommand_from \(name)' "
            + "-l \(option.name.dropFirst(2))\(option.placeholder == nil ? "" : " -r") "
            + "-d \(Self.quoted(option.help.firstLine))")
      }
    }
    return lines.joined(separator: "\n")
  }

  private var names: String { commands.map(\.name).joined(separator: " ") }

  /// One word of a shell.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }

  /// Without the characters that mean something to `_arguments`.
  private static func escaped(_ text: String) -> String {
    text.replacing("[", with: "\\[").replacing("]", with: "\\]").replacing(":", with: "\\:")
  }
}
