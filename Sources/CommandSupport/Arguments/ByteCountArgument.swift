extension Arguments {
  /// The number of bytes given for an option, or `nil`.
  package func byteCount(_ name: String, from least: Int = 0) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let byteCount = Int(byteCount: text), byteCount >= least else {
      throw UsageError("\(name) is \"\(text)\"; \(Self.byteCountRule(from: least)).")
    }
    return byteCount
  }

  private static func byteCountRule(from least: Int) -> String {
    "a number of bytes is a whole number from \(least) on, perhaps with k, M, G or T behind it, "
      + "each 1024 times the one before, as in 512M"
  }
}

extension Int {
  /// Reads `512M`; `nil` for anything else.
  init?(byteCount text: some StringProtocol) {
    let suffix = text.last?.lowercased() ?? ""
    let exponent = ["k", "m", "g", "t"].firstIndex(of: suffix).map { $0 + 1 } ?? 0
    let (byteCount, overflows) = (Int(String(exponent == 0 ? text[...] : text.dropLast())) ?? -1)
      .multipliedReportingOverflow(by: 1 << (10 * exponent))
    guard !overflows, byteCount >= 0 else { return nil }
    self = byteCount
  }
}
