package import Pixels

/// The arguments of one call, checked against a grammar.
package struct Arguments: Sendable {
  package let operands: [String]
  package let isHelpWanted: Bool
  private let values: [String: [String]]

  /// Sorts the words of a call.
  ///
  /// `--name value` and `--name=value` mean the same; after `--` everything is an operand.
  ///
  /// - Throws: ``UsageError`` for unknown, missing and surplus words.
  package init(_ words: some Sequence<String>, grammar: ArgumentGrammar) throws(UsageError) {
    var operands: [String] = []
    var values: [String: [String]] = [:]
    var words = Array(words)[...]
    var isHelpWanted = false
    while let word = words.popFirst() {
      if word == "--" {
        operands += words
        break
      }
      if word == "--help" || word == "-h" {
        isHelpWanted = true
      } else if word.hasPrefix("-"), word != "-" {
        let (option, value) = try Self.option(word, &words, grammar)
        if !option.isRepeatable, values[option.name] != nil {
          throw UsageError("\(option.name) is given twice.")
        }
        values[option.name, default: []].append(value)
      } else {
        operands.append(word)
      }
    }
    self.operands = operands
    self.values = values
    self.isHelpWanted = isHelpWanted
    if !isHelpWanted { try check(grammar) }
  }

  package func hasFlag(_ name: String) -> Bool { values[name] != nil }

  package func value(_ name: String) -> String? { values[name]?.first }

  package func values(_ name: String) -> [String] { values[name] ?? [] }

  /// The number given for an option, or `nil`.
  package func integer(
    _ name: String, in range: ClosedRange<Int>
  ) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "\(name) is \"\(text)\"; it must be a whole number from \(range.lowerBound) to "
          + "\(range.upperBound).")
    }
    return number
  }

  /// The size given for an option, or `nil`.
  package func size(_ name: String) throws(UsageError) -> PixelSize? {
    guard let text = value(name) else { return nil }
    guard let size = PixelSize(argument: text) else {
      throw UsageError("\(name) is \"\(text)\"; \(PixelSize.argumentRule).")
    }
    return size
  }

  /// The pixel format given for an option, or `nil`.
  package func pixelFormat(_ name: String) throws(UsageError) -> PixelFormat? {
    guard let text = value(name) else { return nil }
    guard let pixelFormat = PixelFormat(rawValue: text) else {
      throw UsageError("\(name) is \"\(text)\"; \(PixelFormat.argumentRule).")
    }
    return pixelFormat
  }

  private static func option(
    _ word: String, _ words: inout ArraySlice<String>, _ grammar: ArgumentGrammar
  ) throws(UsageError) -> (ArgumentGrammar.Option, String) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts.first ?? "")
    guard let option = grammar.options.first(where: { $0.name == name }) else {
      let known = grammar.options.map(\.name)
      let hint = known.isEmpty ? "it takes none" : "it takes \(known.joined(separator: ", "))"
      throw UsageError("\(grammar.command) has no option \"\(name)\"; \(hint).")
    }
    guard let placeholder = option.placeholder else {
      guard parts.count == 1 else { throw UsageError("\(name) takes no value: \"\(word)\".") }
      return (option, "")
    }
    if parts.count == 2 { return (option, String(parts[1])) }
    guard let value = words.first, !value.hasPrefix("--") else {
      throw UsageError("\(name) needs a value: \(placeholder).")
    }
    words.removeFirst()
    return (option, value)
  }

  private func check(_ grammar: ArgumentGrammar) throws(UsageError) {
    if operands.count > grammar.operands.count, grammar.operands.last?.isRepeatable != true {
      throw UsageError(
        "\(grammar.command) does not know what to do with \"\(operands[grammar.operands.count])\".")
    }
    for operand in grammar.operands.dropFirst(operands.count) where operand.isRequired {
      throw UsageError("\(grammar.command) needs \(operand.name): \(operand.help.firstLine).")
    }
    for option in grammar.options where option.isRequired && values[option.name] == nil {
      throw UsageError(
        "\(grammar.command) needs \(option.spelling): \(option.help.firstLine).")
    }
  }
}

extension PixelSize {
  /// Reads `200x150`; `nil` for anything else and for sides too large for a table.
  package init?(argument text: some StringProtocol) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
    guard (1...Self.largestSide).contains(width), (1...Self.largestSide).contains(height) else {
      return nil
    }
    self.init(width: width, height: height)
  }

  /// The largest width or height of a table's images, in pixels.
  private static let largestSide = 32_767

  package static let argumentRule =
    "a size is WIDTHxHEIGHT in pixels, each from 1 to \(largestSide), as in 200x150"
}

extension PixelFormat {
  package static let argumentRule =
    "a pixel format is one of \(allCases.map(\.rawValue).joined(separator: ", "))"
}
