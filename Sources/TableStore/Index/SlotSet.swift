/// A set of slots, with one bit for each slot of the table.
struct SlotSet: ~Copyable {
  /// A bit for each slot that there can be, freed by `deinit`.
  private let words: UnsafeMutablePointer<UInt64>
  private let wordCount: Int
  private(set) var count = 0

  /// An empty set.
  ///
  /// - Parameter slotCount: The slots of the table. The other functions take no slot beyond them.
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

  /// The slots of a range that are not in the set, in order; the set has to outlive the sequence.
  ///
  /// Skips sixty-four slots of the set at once, so that the caller touches no memory of theirs: in
  /// `SlotStates`, sixty-four cells are a page.
  func others(in range: Range<Int>) -> Others { Others(words: words, range: range) }

  struct Others: Sequence, IteratorProtocol {
    /// The words of the set.
    private let words: UnsafePointer<UInt64>
    private let end: Int
    private var wordIndex: Int
    /// The rest of the word at `wordIndex`; its ones are the slots to come.
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
