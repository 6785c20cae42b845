import CMemoryHints
import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Memory that bitmaps gave back, kept for the next ones as long as a ``SpareMemoryUse`` asks for
/// it.
///
/// `malloc(3)` returns blocks of that size to the system, which zeroes and maps every page of the
/// next one anew: 500 pages for a photograph of 800 x 600. When many decodes follow each other,
/// that takes a quarter of their time.
///
/// Invariants:
/// 1. No other object has the address of a block in `blocks`. Together these blocks take up
///    `byteLimit` bytes at most, and none while `userCount` is 0.
/// 2. Under the address sanitizer, any access to a kept block fails, and so does an access to a
///    reused block beyond the bytes asked for: reuse hides no access out of bounds.
package final class SpareMemory: Sendable {
  /// A piece of memory that has one owner.
  ///
  /// `@unchecked Sendable` is safe because an owner that gives a block away keeps no copy of it.
  package struct Block: @unchecked Sendable {
    package let start: UnsafeMutableRawPointer
    /// The size that `malloc(3)` was asked for. The owner uses only the bytes that it took, which
    /// can be fewer.
    fileprivate let byteCount: Int
  }

  private struct State {
    /// Oldest first.
    var blocks: [Block] = []
    var userCount = 0

    mutating func takeAll() -> [Block] {
      defer { blocks = [] }
      return blocks
    }
  }

  /// Shared by all bitmaps. The limit holds two photographs that are decoded near the size of a
  /// screen's cell at the same time, and is little beside one large photograph.
  package static let shared = SpareMemory(byteLimit: 8 << 20)

  /// `malloc(3)` itself keeps smaller blocks.
  private static let smallest = 64 << 10

  private let state = Lock(State())
  private let byteLimit: Int
  private let allocate: @Sendable (Int) -> UnsafeMutableRawPointer?

  /// - Parameter allocate: Stands for `malloc(3)`; tests make it fail.
  package init(
    byteLimit: Int, allocate: @escaping @Sendable (Int) -> UnsafeMutableRawPointer? = { malloc($0) }
  ) {
    self.byteLimit = byteLimit
    self.allocate = allocate
  }

  deinit { clear() }

  package var keptByteCount: Int { state.withLock { Self.byteCount(of: $0.blocks) } }

  /// Returns a block of at least `byteCount` bytes with arbitrary content, or `nil` if there is no
  /// memory.
  ///
  /// A reused block is at most twice as large as asked for, so that no thumbnail holds the memory
  /// of a photograph.
  package func take(byteCount: Int) -> Block? {
    let kept = state.withLock { state in
      state.blocks.indices
        .filter {
          state.blocks[$0].byteCount >= byteCount && state.blocks[$0].byteCount / 2 <= byteCount
        }
        .min { state.blocks[$0].byteCount < state.blocks[$1].byteCount }
        .map { state.blocks.remove(at: $0) }
    }
    if let kept {
      fic_permit(kept.start, byteCount)
      return kept
    }
    if let fresh = allocate(byteCount) { return Block(start: fresh, byteCount: byteCount) }
    // The kept blocks may take the room that is missing.
    clear()
    return allocate(byteCount).map { Block(start: $0, byteCount: byteCount) }
  }

  /// Takes a block back, whose owner must not touch it again.
  package func give(_ block: Block) {
    guard block.byteCount >= Self.smallest, block.byteCount <= byteLimit else {
      return free(block.start)
    }
    fic_forbid(block.start, block.byteCount)
    let surplus = state.withLock { state in
      guard state.userCount > 0 else { return [block] }
      state.blocks.append(block)
      var surplus: [Block] = []
      while Self.byteCount(of: state.blocks) > byteLimit {
        surplus.append(state.blocks.removeFirst())
      }
      return surplus
    }
    release(surplus)
  }

  /// Returns every kept block to the system.
  package func clear() { release(state.withLock { $0.takeAll() }) }

  fileprivate func changeUsers(by change: Int) {
    release(
      state.withLock { state in
        state.userCount += change
        return state.userCount == 0 ? state.takeAll() : []
      })
  }

  private func release(_ blocks: [Block]) {
    for block in blocks {
      fic_permit(block.start, block.byteCount)
      free(block.start)
    }
  }

  private static func byteCount(of blocks: [Block]) -> Int {
    blocks.reduce(0) { $0 + $1.byteCount }
  }
}

/// A wish to keep spare memory, which ends with this object at the latest.
package final class SpareMemoryUse: Sendable {
  private let memory: SpareMemory
  private let wish = Lock(false)

  package init(of memory: SpareMemory = .shared) {
    self.memory = memory
    resume()
  }

  deinit { pause() }

  package var isUnderWay: Bool { wish.withLock { $0 } }

  /// Frees the kept blocks when no other wish is under way.
  package func pause() { change(to: false) }

  package func resume() { change(to: true) }

  private func change(to next: Bool) {
    let hasChanged = wish.withLock { wish in
      defer { wish = next }
      return wish != next
    }
    if hasChanged { memory.changeUsers(by: next ? 1 : -1) }
  }
}
