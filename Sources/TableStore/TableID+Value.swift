extension TableID {
  /// What an id was made of.
  package enum Value: Hashable, Sendable {
    case string(String)
    /// The first and the last eight bytes, most significant first.
    case uuid(UInt64, UInt64)
    case integer(Int64)
    /// An integer above `Int64.max`.
    case largeInteger(UInt64)
  }

  package var value: Value {
    switch kind {
    case .string: .string(text)
    case .uuid: .uuid(words.0, words.1)
    case .integer: .integer(Int64(bitPattern: words.0))
    case .largeInteger: .largeInteger(words.0)
    }
  }
}
