import ImageViewing
import Testing

@Suite("The items that a list has brought ahead")
struct PrefetchedItemsTests {
  @Test("leave by the entity that was at their path, once")
  func areRemoved() {
    var items = PrefetchedItems<Int, String>(isSame: ==)
    #expect(items.insert([(1, "a"), (2, "b"), (3, "c")]) == [])
    #expect(items.remove([2, 9]) == ["b"])
    #expect(items.remove([2]) == [])
    #expect(items.remove([3, 1]) == ["a", "c"])
  }

  @Test("have another turn at the same path, whichever entity is there by now")
  func areReplaced() {
    var items = PrefetchedItems<Int, String>(isSame: ==)
    _ = items.insert([(1, "a"), (2, "b")])
    #expect(items.insert([(1, "x"), (3, "c")]) == ["a"])
    #expect(items.remove([1, 2, 3]) == ["b", "x", "c"])
  }

  @Test("stay while another path has the same image, and while they come again")
  func areShared() {
    var items = PrefetchedItems<Int, String>(isSame: ==)
    _ = items.insert([(1, "a"), (2, "a")])
    #expect(items.insert([(1, "a")]) == [])
    #expect(items.remove([2]) == [])
    #expect(items.remove([1]) == ["a"])
  }

  @Test("make room, the oldest first")
  func areLimited() {
    var items = PrefetchedItems<Int, String>(limit: 2, isSame: ==)
    #expect(items.insert([(1, "a"), (2, "b")]) == [])
    #expect(items.insert([(3, "c")]) == ["a"])
    #expect(items.insert([(2, "b")]) == [])
    #expect(items.insert([(4, "d"), (5, "e"), (6, "f")]) == ["c", "b", "d"])
    #expect(items.remove([4, 5, 6]) == ["e", "f"])
  }
}
