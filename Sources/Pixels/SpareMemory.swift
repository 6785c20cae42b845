import CMemoryHints
import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Memory that bitmaps gave back, kept for the next ones.
///
/// `malloc(3)` returns blocks of their size to the system, which zeroes and maps every page of the
/// next one anew: 500 pages for a photograph of 800 x 600, and a quarter of its decode's time when
/// many follow each other.
///
/// Invariants:
/// 1. Nobody else has the address of a block in `blocks`; they take up `byteLimit` at most, together.
/// 2. The address sanitizer, where it watches, lets nobody touch a kept block, and of a block that
///    was taken only as many bytes as were asked for: reuse hides no access out of bounds.
package final class SpareMemory: Sendable {
  /// A piece of memory that has one owner.
  ///
  /// `@unchecked Sendable` is safe because whoever gives a block away keeps no copy of it.
  package struct Block: @unchecked Sendable {
    package let start: UnsafeMutableRawPointer
    /// What `malloc(3)` was asked for; the owner may use what it asked for itself.
    fileprivate let byteCount: Int
  }

  /// What all bitmaps share: enough for two photographs that are decoded near the size of a screen's
  /// cell at the same time, and little beside what one large photograph takes.
  package static let shared = SpareMemory(byteLimit: 8 << 20)

  /// Smaller blocks `malloc(3)` keeps itself.
  private static let smallest = 64 << 10

  /// The longest kept first.
  private let blocks = Lock([Block]())
  private let byteLimit: Int

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  deinit { clear() }

  package var keptByteCount: Int { blocks.withLock { $0.reduce(0) { $0 + $1.byteCount } } }

  /// A block of at least so many bytes, of whatever content; `nil` if there is no memory.
  ///
  /// A kept block is at most twice as large as what was asked for, so that no thumbnail holds the
  /// memory of a photograph.
  package func take(byteCount: Int) -> Block? {
    let kept = blocks.withLock { blocks in
      blocks.indices
        .filter { blocks[$0].byteCount >= byteCount && blocks[$0].byteCount / 2 <= byteCount }
        .min { blocks[$0].byteCount < blocks[$1].byteCount }
        .map { blocks.remove(at: $0) }
    }
    guard let kept else {
      return malloc(byteCount).map { Block(start: $0, byteCount: byteCount) }
    }
    fic_permit(kept.start, byteCount)
    return kept
  }

  /// Takes a block back, whose owner must not touch it again.
  package func give(_ block: Block) {
    guard block.byteCount >= Self.smallest, block.byteCount <= byteLimit else {
      return free(block.start)
    }
    fic_forbid(block.start, block.byteCount)
    let surplus = blocks.withLock { blocks in
      blocks.append(block)
      var surplus: [Block] = []
      while blocks.reduce(0, { $0 + $1.byteCount }) > byteLimit {
        surplus.append(blocks.removeFirst())
      }
      return surplus
    }
    release(surplus)
  }

  /// Returns all that is kept to the system.
  package func clear() {
    release(
      blocks.withLock { blocks in
        defer { blocks = [] }
        return blocks
      })
  }

  private func release(_ blocks: [Block]) {
    for block in blocks {
      fic_permit(block.start, block.byteCount)
      free(block.start)
    }
  }
}
