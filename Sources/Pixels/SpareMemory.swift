import CMemoryHints
import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Memory that decodes gave back, kept for the next ones as long as a ``SpareMemoryUse`` asks for
/// it.
///
/// The system would zero and map every page of the next block anew: 500 pages for the bitmap of a
/// photograph of 800 x 600. When many decodes follow each other, that takes a quarter of their time.
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
    /// The size that the system was asked for. The owner uses only the bytes that it took, which
    /// can be fewer.
    package let byteCount: Int
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

  /// For the coefficients of progressive JPEG files. The limit holds those of 20 megapixels whose
  /// colours have half the resolution, and is a quarter of what a cache's decodes may take together
  /// by default. Mappings, since `malloc(3)` would keep as much again in each of its arenas.
  package static let mappings = SpareMemory(
    byteLimit: 64 << 20,
    allocate: { byteCount in
      let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
      return start == MAP_FAILED ? nil : start
    },
    release: { munmap($0.start, $0.byteCount) })

  /// Returns every kept block of the process to the system.
  package static func clearAll() {
    shared.clear()
    mappings.clear()
  }

  /// `malloc(3)` itself keeps smaller blocks.
  private static let smallest = 64 << 10

  private let state = Lock(State())
  private let byteLimit: Int
  private let allocate: @Sendable (Int) -> UnsafeMutableRawPointer?
  private let release: @Sendable (Block) -> Void

  /// - Parameters:
  ///   - allocate: Obtains a block of as many bytes, or `nil`; tests make it fail.
  ///   - release: Returns a block that `allocate` obtained.
  package init(
    byteLimit: Int,
    allocate: @escaping @Sendable (Int) -> UnsafeMutableRawPointer? = { malloc($0) },
    release: @escaping @Sendable (Block) -> Void = { free($0.start) }
  ) {
    self.byteLimit = byteLimit
    self.allocate = allocate
    self.release = release
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
      return release(block)
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
      release(block)
    }
  }

  private static func byteCount(of blocks: [Block]) -> Int {
    blocks.reduce(0) { $0 + $1.byteCount }
  }
}

/// A wish to keep spare memory, which ends with this object at the latest.
package final class SpareMemoryUse: Sendable {
  private let memories: [SpareMemory]
  private let wish = Lock(false)

  package init(of memories: [SpareMemory] = [.shared, .mappings]) {
    self.memories = memories
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
    if hasChanged { for memory in memories { memory.changeUsers(by: next ? 1 : -1) } }
  }
}
