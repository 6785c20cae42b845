package import Foundation

/// The bytes of one arrival, of which the whole blocks go to the disk.
package protocol PartialSource: Sendable {
  var key: OriginalKey { get }
  /// What stands beside the blocks.
  var facts: OriginalFacts { get }
  /// The bytes of the whole original.
  var byteCount: Int { get }
  /// Tells the arrivals of a load apart.
  var arrival: Int { get }

  /// A copy of a block; `nil` while it is not whole.
  func block(_ number: Int) -> Data?

  /// Whether bytes that came with these terms are of the same version of the original.
  func isVersion(of terms: [UInt8]) -> Bool
}

/// The arrival of a load that may have left blocks on disk.
package struct PartialUse: Sendable {
  /// The number only: what is held is let go under the lock, where no load may end.
  let load: Int
  let arrival: Int

  package init(_ load: OriginalLoad, arrival: Int) {
    (self.load, self.arrival) = (load.number, arrival)
  }
}

/// A held original, of whose bytes a partial may have the first.
struct WholeSource: PartialSource {
  private let held: OriginalShelf.Held
  let arrival: Int

  init(_ held: OriginalShelf.Held, _ use: PartialUse) {
    (self.held, arrival) = (held, use.arrival)
  }

  var key: OriginalKey { held.key }
  var facts: OriginalFacts { held.facts }
  var byteCount: Int { held.content.count }

  func block(_ number: Int) -> Data? {
    let rest = held.content.dropFirst(number * PartialFile.blockByteCount)
    return rest.count < PartialFile.blockByteCount
      ? nil : rest.prefix(PartialFile.blockByteCount)
  }

  /// All bytes are there: blocks that are equal are the original's, whatever was said of them.
  func isVersion(of terms: [UInt8]) -> Bool { true }
}
