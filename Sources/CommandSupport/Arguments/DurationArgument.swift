extension Arguments {
  /// The time given for an option, or `nil`.
  package func duration(_ name: String) throws(UsageError) -> Duration? {
    guard let text = value(name) else { return nil }
    guard let unit = text.last.flatMap({ Self.seconds[$0] }), let number = Int(text.dropLast()),
      (0...1_000_000).contains(number)
    else { throw UsageError("\(name) is \"\(text)\"; \(Self.durationRule).") }
    return .seconds(number * unit)
  }

  private static let seconds: [Character: Int] = [
    "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800,
  ]

  private static let durationRule =
    "a time is a whole number up to a million and s, m, h, d or w, as in 90m or 30d"
}
