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
    // These marks are no ids of a user's.
    case .uuid, .placeholder, .damaged, .damagedPlaceholder, .frame: .uuid(words.0, words.1)
    case .integer: .integer(Int64(bitPattern: words.0))
    case .largeInteger: .largeInteger(words.0)
    }
  }

  /// Lends the UTF-8 of a string; nothing for other kinds.
  package func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withExtendedLifetime(bytes) {
      body(UnsafeRawBufferPointer(start: span.base, count: span.count))
    }
  }

  /// Takes the UTF-8 of a string byte for byte; `nil` for other bytes.
  package init?(validating utf8: UnsafeRawBufferPointer) {
    // Most ids are addresses, which need no string between.
    if utf8.allSatisfy({ $0 < 0x80 }) {
      self = utf8.withMemoryRebound(to: UInt8.self) { TableID(copying: $0) }
    } else if let text = String(validating: utf8, as: UTF8.self) {
      self.init(text)
    } else {
      return nil
    }
  }
}

extension TableID {
  /// The start of a hash that is the same on every platform and in every process.
  package var stableHash: UInt64 { digest.low }

  /// Such a hash of three ids in their order.
  package static func hash(_ first: TableID, _ second: TableID, _ third: TableID) -> UInt64 {
    LaneHash.hash(
      first.digest.low, first.digest.high, second.digest.low, second.digest.high,
      third.digest.low, third.digest.high, 0, 0)
  }
}
