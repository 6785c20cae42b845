extension TableID {
  /// What an id was made of.
  package enum Value: Hashable, Sendable {
    case string(String)
    /// As its ``TableID/description`` spells it.
    case uuid
    case integer(Int64)
    /// An integer above `Int64.max`.
    case largeInteger(UInt64)
  }

  package var value: Value {
    switch kind {
    case .string: .string(text)
    case .uuid: .uuid
    case .integer: .integer(Int64(bitPattern: words.0))
    case .largeInteger: .largeInteger(words.0)
    }
  }
}
