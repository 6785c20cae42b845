/// Some of a table's slots, one bit each.
struct SlotSet: ~Copyable {
  /// A bit for each slot that there can be, freed by `deinit`.
  private let words: UnsafeMutablePointer<UInt64>
  private let wordCount: Int
  private(set) var count = 0

  /// An empty set.
  ///
  /// - Parameter slotCount: How many slots there can be; no others may be asked for.
  init(slotCount: Int) {
    wordCount = slotCount / 64 + 1
    words = .allocate(capacity: wordCount)
    words.initialize(repeating: 0, count: wordCount)
  }

  deinit { words.deallocate() }

  func contains(_ slot: Int) -> Bool { words[slot / 64] & bit(slot) != 0 }

  mutating func insert(_ slot: Int) {
    guard !contains(slot) else { return }
    words[slot / 64] |= bit(slot)
    count += 1
  }

  mutating func remove(_ slot: Int) {
    guard contains(slot) else { return }
    words[slot / 64] &= ~bit(slot)
    count -= 1
  }

  mutating func removeAll() {
    words.update(repeating: 0, count: wordCount)
    count = 0
  }

  /// The slots of a range that are not in the set, in their order, as long as the set is there.
  ///
  /// Sixty-four that are in it are passed over at once, and whatever there is of them in memory is
  /// not looked at: for what `SlotStates` keeps of a slot, that is a page.
  func others(in range: Range<Int>) -> Others { Others(words: words, range: range) }

  struct Others: Sequence, IteratorProtocol {
    /// The set's, which has to outlive this.
    private let words: UnsafePointer<UInt64>
    private let end: Int
    private var wordIndex: Int
    /// What is left of the word at `wordIndex`: ones stand for slots to be given out.
    private var rest: UInt64

    fileprivate init(words: UnsafePointer<UInt64>, range: Range<Int>) {
      self.words = words
      end = range.upperBound
      wordIndex = range.lowerBound / 64
      rest = ~words[wordIndex] & ~0 << UInt64(range.lowerBound % 64)
    }

    mutating func next() -> Int? {
      while rest == 0 {
        wordIndex += 1
        guard wordIndex * 64 < end else { return nil }
        rest = ~words[wordIndex]
      }
      let slot = wordIndex * 64 + rest.trailingZeroBitCount
      rest &= rest - 1
      return slot < end ? slot : nil
    }
  }

  private func bit(_ slot: Int) -> UInt64 { 1 << UInt64(slot % 64) }
}
