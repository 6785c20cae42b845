/// A start of the system: what is in its memory for files has not been lost since.
package struct BootID: Hashable, Sendable {
  let low: UInt64
  let high: UInt64

  /// This start; `nil` where the system does not tell.
  package static let current = Platform.readBootID().map { BootID(naming: $0) }

  /// Any start, for tests.
  package init(naming name: String) {
    var name = name
    (low, high) = name.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return (
        LaneHash.hash(bytes, seed: LaneHash.keys.3), LaneHash.hash(bytes, seed: LaneHash.keys.4)
      )
    }
  }
}
