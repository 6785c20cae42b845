import TestSupport
import Testing

@testable import FastImageCache

@Suite("A short list")
struct ShortListTests {
  @Test("agrees with an array over long random histories", arguments: 1...4)
  func agreesWithArray(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var list: ShortList<Int> = []
    var array: [Int] = []
    var longest = 0
    for number in 0..<2_000 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        list.append(number)
        array.append(number)
      case 2 where !array.isEmpty:
        let index = array.indices.randomElement(using: &random) ?? 0
        list.remove(at: index)
        array.remove(at: index)
      case 3 where !array.isEmpty:
        let index = array.indices.randomElement(using: &random) ?? 0
        list[index] += 1
        array[index] += 1
      case 4:
        let divisor = Int.random(in: 2...5, using: &random)
        list.removeAll { $0 % divisor == 0 }
        array.removeAll { $0 % divisor == 0 }
      default: break
      }
      longest = max(longest, array.count)
      // One expectation for each fault: a passed one costs more than everything else here.
      if Array(list) != array { Issue.record("\(Array(list)), not \(array), at step \(number).") }
    }
    #expect(longest > 3)
  }

  @Test("equals a list of the same elements, however they came there")
  func equality() {
    var list: ShortList<Int> = [1, 2]
    list.remove(at: 0)
    #expect(list == [2])
    list.removeAll { $0 == 2 }
    #expect(list == [] && list.isEmpty)
  }
}
