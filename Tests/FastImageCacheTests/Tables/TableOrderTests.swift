import TestSupport
import Testing

@testable import FastImageCache

@Suite("The order of a table's changes", .timeLimit(.minutes(10)))
struct TableOrderTests {
  private var order = TableOrder()
  private let first = ImageKey(entity: "a", version: "1", format: "row")
  private let second = ImageKey(entity: "a", version: "2", format: "row")
  private let other = ImageKey(entity: "b", version: "1", format: "row")

  private mutating func stores(
    _ key: ImageKey, _ load: Int, for request: Int? = nil
  ) -> Bool {
    order.admit(
      key, StoreOrder(begun: load, request: request ?? load, outdatesOthers: false),
      isPlaceholder: false
    ) { 0 }
  }

  @Test("keeps out what loads from before a removal bring, of its entity or of all")
  mutating func removes() {
    order.remove("a", at: 5) { 0 }
    let results = [
      stores(first, 4), stores(first, 4, for: 6), stores(other, 4), stores(first, 6),
    ]
    #expect(results == [false, false, true, true])
    order.remove(nil, at: 8) { 0 }
    let afterAll = [stores(other, 7), stores(second, 7), stores(other, 9)]
    #expect(afterAll == [false, false, true])
    // A late turn of an earlier removal takes nothing back.
    order.remove("a", at: 6) { 0 }
    order.remove(nil, at: 3) { 0 }
    let afterLate = [stores(first, 7), stores(first, 9)]
    #expect(afterLate == [false, true])
  }

  @Test("keeps out other versions that older requests asked for, and not the same version")
  mutating func comparesVersions() {
    let results = [
      stores(second, 3), stores(first, 2), stores(second, 1), stores(first, 2),
      stores(first, 2, for: 4), stores(second, 3),
    ]
    #expect(results == [true, false, true, false, true, false])
  }

  @Test("keeps the image of the load whose source was asked last, whichever answers first")
  mutating func ordersReloads() {
    func reload(_ begun: Int, asked: Int? = nil) -> StoreOrder {
      StoreOrder(begun: begun, request: begun, outdatesOthers: true, asked: asked ?? begun)
    }
    let loads = (0..<6).map { _ in Generation.next() }
    func stores(_ order: StoreOrder) -> Bool {
      self.order.admit(first, order, isPlaceholder: false) { 0 }
    }
    let both = [stores(reload(loads[1])), stores(reload(loads[2])), stores(reload(loads[1]))]
    #expect(both == [true, true, false])
    // One that began later and asked earlier has the older image, and so has one that did not ask.
    let late = [
      stores(reload(loads[0], asked: Generation.next())), stores(reload(loads[3], asked: loads[3])),
      stores(StoreOrder(begun: loads[3], request: loads[3], outdatesOthers: false, asked: 0)),
    ]
    #expect(late == [true, false, false])
    let byHand = Generation.next()
    let reloads = [Generation.next(), Generation.next()]
    let last = [
      stores(reload(reloads[0])), stores(.byHand(at: byHand)),
      stores(.byHand(at: Generation.next())),
      stores(reload(reloads[1])), stores(reload(Generation.next())),
    ]
    #expect(last == [true, false, true, false, true])
  }

  @Test("keeps an image by hand whose store began after the source of a reload was asked")
  mutating func ordersHands() {
    let (load, asked, hand) = (Generation.next(), Generation.next(), Generation.next())
    let reload = StoreOrder(begun: load, request: load, outdatesOthers: true, asked: asked)
    // The reload's image is stored while the other is drawn.
    let stored = [reload, .byHand(at: hand), reload].map { order in
      self.order.admit(first, order, isPlaceholder: false) { 0 }
    }
    #expect(stored == [true, true, false])
  }

  @Test("keeps out an image by hand that was removed, whatever a reload has brought since")
  mutating func removesHands() {
    let hand = Generation.next()
    order.remove(first.entity, at: Generation.next()) { 0 }
    let load = Generation.next()
    // Its entity has answered, and no source was asked.
    let reload = StoreOrder(begun: load, request: load, outdatesOthers: true, asked: 0)
    let stored = [reload, .byHand(at: hand)].map { order in
      self.order.admit(first, order, isPlaceholder: false) { 0 }
    }
    #expect(stored == [true, false])
  }

  /// Loads and stores that live, and what each does next.
  @Test("is the same whether it forgets what is older than all that lives", arguments: 0..<40)
  func forgets(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var (forgetful, mindful) = (TableOrder(limit: 0), TableOrder(limit: .max))
    var living: [Int] = []
    for step in 0..<2000 {
      let entity = ImageID(Int.random(in: 0..<4, using: &random))
      let key = ImageKey(
        entity: entity, version: ImageID(Int.random(in: 0..<2, using: &random)), format: "row")
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3: living.append(Generation.next())
      case 3:
        if !living.isEmpty { living.remove(at: living.indices.randomElement(using: &random) ?? 0) }
      case 4:
        let number = Generation.next()
        let removed = Bool.random(using: &random) ? entity : nil
        forgetful.remove(removed, at: number) { living.min() ?? .max }
        mindful.remove(removed, at: number) { 0 }
      default:
        guard let load = living.randomElement(using: &random) else { continue }
        let request = Bool.random(using: &random) ? load : Generation.next()
        let order = StoreOrder(
          begun: load, request: request, outdatesOthers: Int.random(in: 0..<8, using: &random) == 0)
        let expected = mindful.admit(key, order, isPlaceholder: false) { 0 }
        let result = forgetful.admit(key, order, isPlaceholder: false) { living.min() ?? .max }
        #expect(result == expected, "step \(step)")
        if result != expected { return }
      }
    }
  }
}
