import Foundation
import Pixels
import Testing

@testable import FastImageCache

@Suite("A load registry", .timeLimit(.minutes(10)))
struct LoadRegistryTests: LoadRegistrySuite {
  var registry = LoadRegistry<Int, ImageKey, LoadID>()

  @Test("tells a load that ended from the one that has its index now")
  mutating func placesAreUsedAgain() {
    let old = join(1, row).load
    _ = registry.leave(SubscriberID(number: 1))
    let new = join(2, row).load
    #expect(new.index == old.index && new != old)
    #expect(!registry.isUnderWay(old) && registry.isUnderWay(new))
    #expect(registry.asked { $0.look(at: old) { $0.hasRequests } } == nil)
    #expect(take(old).isEmpty && finish(row, of: old).isEmpty)
    #expect(registry.fail(old).subscribers.isEmpty)
    let isKnown = registry.setHandle(old, of: old)
    #expect(!isKnown)
    let isRetired = registry.retire(old)
    #expect(isRetired)
    // None of it was the new one's.
    #expect(take(new) == [row])
    #expect(finish(row, of: new) == [2])
  }

  @Test("finds each of many images of one URL, and hands them out in the order of the wishes")
  mutating func keepsManyProducts() {
    let keys = (0..<40).map {
      ImageKey(entity: ImageID($0), version: "s", format: $0.isMultiple(of: 2) ? "row" : "dot")
    }
    var load = join(0, keys[0], versions: [:]).load
    for (number, key) in keys.enumerated().dropFirst() {
      load = join(number, key, versions: [:]).load
    }
    #expect(registry.loadCount == 1)
    _ = join(100, keys[30], versions: [:])
    #expect(take(load) == keys)
    _ = registry.leave(SubscriberID(number: 7))
    _ = join(101, keys[7], versions: [:])
    _ = join(102, ImageKey(entity: 99, version: "s", format: "row"), versions: [:])
    #expect(take(load) == [keys[7], ImageKey(entity: 99, version: "s", format: "row")])
    for (number, key) in keys.enumerated() {
      let expected = number == 7 ? [101] : number == 30 ? [30, 100] : [number]
      #expect(finish(key, of: load) == expected)
    }
  }

  @Test("hands back whatever request it forgets, for others to let go of")
  mutating func handsBackRequests() {
    let load = join(1, row).load
    _ = join(2, dot)
    _ = registry.leave(SubscriberID(number: 1))
    _ = join(3, row)
    #expect(registry.takeDropped() == [row])
    _ = finish(row, of: load)
    _ = finish(dot, of: load)
    #expect(registry.takeDropped().isEmpty)
    let isRetired = registry.retire(load)
    #expect(isRetired && Set(registry.takeDropped()) == [row, dot])
  }

  @Test("forgets those who come and go while one stays")
  mutating func forgetsThoseWhoLeft() {
    let load = join(0, row).load
    for number in 1...1000 {
      _ = join(number, row)
      _ = registry.leave(SubscriberID(number: number))
    }
    #expect(registry.subscriberCount == 1)
    #expect(registry.records[0]?.outputs[0].subscribers.count ?? .max < 100)
    #expect(finish(row, of: load) == [0])
  }

  @Test("lets no request join a load from before a removal of its image")
  mutating func joinsNoOlderThanRemoval() {
    let load = join(1, row).load
    registry.remove(.entity("a", format: "row"), at: 2)
    #expect(join(3, dot).load == load)
    let newer = join(4, row)
    #expect(newer.isNewLoad && join(5, row).load == newer.load)
    registry.remove(.format("dot"), at: 6)
    #expect(join(7, dot).isNewLoad)
    let other = ImageKey(entity: "b", version: "b1", format: "row")
    #expect(!join(8, other).isNewLoad)
  }

  @Test("knows the removals that a load under way is older than, and no others")
  mutating func forgetsRemovals() {
    let load = join(1, row).load
    for number in 2..<200 { registry.remove(.entity(ImageID(number), format: "row"), at: number) }
    registry.remove(.entity("a", format: "row"), at: 200)
    #expect(join(201, row).isNewLoad)
    _ = registry.leave(SubscriberID(number: 1))
    for number in 202..<400 { registry.remove(.entity(ImageID(number), format: "row"), at: number) }
    #expect(!registry.isUnderWay(load) && !join(401, row).isNewLoad)
  }

  @Test("lets whoever a load waits for join younger loads only")
  mutating func refusesOlder() {
    let load = join(1, row).load
    let inner = join(2, dot, after: load)
    #expect(inner.isNewLoad && join(3, dot).load == inner.load)
    #expect(join(4, dot, after: load).load == inner.load)
    #expect(join(5, dot, after: inner.load).isNewLoad)
  }

  @Test("does not call an image left that its last subscriber has from elsewhere")
  mutating func leavesAnswered() {
    let load = join(1, row).load
    #expect(take(load) == [row])
    #expect(finish(row, of: load, isFetched: false) == [1])
    _ = join(2, row)
    #expect(registry.leave(SubscriberID(number: 2), isAnswered: true)?.abandoned?.requests == [])
    let next = join(3, row)
    #expect(next.isNewLoad)
    #expect(registry.leave(SubscriberID(number: 3))?.abandoned?.requests == [row])
  }

  @Test("keeps neither address nor original of a load that has ended")
  mutating func forgetsOrigins() throws {
    let original = SharedOriginal(
      loadKey: .original("o", version: "1"), size: PixelSize(width: 8, height: 8))
    _ = registry.join(
      SubscriberID(number: 1), key: row, loadKey: .url(try #require(URL(string: "test:/1"))),
      of: original, priority: .current, versions: [], request: row, start: { $0 },
      subscriber: { _ in 1 })
    func loadKeys() -> Int? {
      (Mirror(reflecting: registry).descendant("current") as? [LoadKey: LoadID])?.count
    }
    #expect(loadKeys() == 2)
    _ = registry.leave(SubscriberID(number: 1))
    #expect(loadKeys() == 0)
  }
}

extension LoadRegistry {
  /// An answer of a copy of the registry, since questions may not change what an expectation looks at.
  func asked<Answer>(_ question: (inout Self) -> Answer) -> Answer {
    var copy = self
    return question(&copy)
  }
}

@Suite("A load registry, of requests that want more or other than usual,", .timeLimit(.minutes(10)))
struct LoadRegistryStrengthTests: LoadRegistrySuite {
  var registry = LoadRegistry<Int, ImageKey, LoadID>()

  @Test("keeps an original under no entity once that of another one in the load was removed")
  mutating func keepsNoShared() {
    let load = join(1, row).load
    registry.remove(.originals("a"), at: 2)
    let late = ImageKey(entity: "b", version: "b1", format: "row")
    #expect(join(3, late, versions: [:]).load == load)
    #expect(registry.keepsOriginal(of: "b", load) == false)
  }

  @Test("has nothing revalidated whose image or original was removed, or whose load has ended")
  mutating func revalidatesNoRemoved() {
    let load = join(1, row).load
    #expect(registry.mayBeRevalidated(row, "a", of: load))
    registry.remove(.entity("a", format: "row"), at: 2)
    #expect(!registry.mayBeRevalidated(row, "a", of: load))
    #expect(registry.mayBeRevalidated(dot, "a", of: load))
    registry.remove(.originals("a"), at: 3)
    #expect(!registry.mayBeRevalidated(dot, "a", of: load))
    let next = join(4, dot, policy: .reload).load
    _ = registry.fail(next)
    #expect(!registry.mayBeRevalidated(dot, "a", of: next))
  }
}
