/// The options and operands that a command understands, and the help text made of them.
///
/// One description serves parsing and help, so that the two cannot drift apart.
package struct ArgumentGrammar: Sendable {
  /// A word that begins with two dashes.
  package struct Option: Sendable {
    package let name: String
    /// Names the value in the help text; `nil` for an option that stands alone.
    package let placeholder: String?
    package let isRequired: Bool
    package let isRepeatable: Bool
    package let help: String

    package static func flag(_ name: String, help: String) -> Option {
      Option(name: name, placeholder: nil, isRequired: false, isRepeatable: false, help: help)
    }

    package static func value(
      _ name: String, _ placeholder: String, isRequired: Bool = false, isRepeatable: Bool = false,
      help: String
    ) -> Option {
      Option(
        name: name, placeholder: placeholder, isRequired: isRequired, isRepeatable: isRepeatable,
        help: help)
    }
  }

  /// A word without dashes, told by its position.
  package struct Operand: Sendable {
    package let name: String
    package let isRequired: Bool
    /// Takes all words that are left; of the last operand only.
    package let isRepeatable: Bool
    package let help: String

    package init(
      _ name: String, isRequired: Bool = true, isRepeatable: Bool = false, help: String
    ) {
      self.name = name
      self.isRequired = isRequired
      self.isRepeatable = isRepeatable
      self.help = help
    }
  }

  /// The words before the arguments, as in `imagecache scroll`.
  package let command: String
  package let summary: String
  package let operands: [Operand]
  package let options: [Option]
  /// Text after the list of options: an example, the exit codes.
  package let discussion: String

  package init(
    command: String, summary: String, operands: [Operand] = [], options: [Option] = [],
    discussion: String
  ) {
    self.command = command
    self.summary = summary
    self.operands = operands
    self.options = options
    self.discussion = discussion
  }

  /// The call on one line, as in `imagecache clear DIR [NAME]`.
  package var synopsis: String {
    let operandTexts = operands.map { operand in
      (operand.isRequired ? operand.name : "[\(operand.name)]")
        + (operand.isRepeatable ? " ..." : "")
    }
    let optionTexts = options.map { option in
      let text = option.spelling
      return (option.isRequired ? text : "[\(text)]") + (option.isRepeatable ? " ..." : "")
    }
    return ([command] + operandTexts + optionTexts).joined(separator: " ")
  }

  /// Operands and options, and what they mean.
  var rows: [(name: String, help: String)] {
    operands.map { ($0.name, $0.help) } + options.map { ($0.spelling, $0.help) }
      + [("--help", "prints this text")]
  }

  package var help: String {
    let width = rows.map(\.0.count).max() ?? 0
    let list = rows.map { name, help in
      let indent = "\n" + String(repeating: " ", count: width + 4)
      return "  " + name.padded(to: width) + "  " + help.replacing("\n", with: indent)
    }
    return """
      \(summary)

      Usage: \(synopsis)

      \(list.joined(separator: "\n"))

      \(discussion)
      """
  }
}

extension ArgumentGrammar.Option {
  var spelling: String { placeholder.map { "\(name) \($0)" } ?? name }
}

extension String {
  var firstLine: String { String(prefix { $0 != "\n" }) }

  /// The text with blanks after it, `width` characters in all; longer text stays as it is.
  package func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }

  /// The text with blanks before it, `width` characters in all; longer text stays as it is.
  package func leftPadded(to width: Int) -> String {
    String(repeating: " ", count: max(width - count, 0)) + self
  }
}
