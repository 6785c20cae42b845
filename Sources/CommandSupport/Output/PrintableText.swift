extension String {
  /// The text with control characters escaped: names of files and of entities may hold characters
  /// that move a terminal's cursor or end the line.
  package var printable: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      text += scalar.isControl ? scalar.escaped(asASCII: true) : String(scalar)
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
