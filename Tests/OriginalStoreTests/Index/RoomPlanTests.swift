import Testing

@testable import OriginalStore

@Suite("A plan for room", .timeLimit(.minutes(8)))
struct RoomPlanTests {
  private func head(
    _ lastUse: Int64, _ byteCount: Int = 4096, rank: OriginalIndex.Rank = .regular
  ) -> RoomPlan.Head {
    RoomPlan.Head(rank: rank, lastUse: lastUse, byteCount: byteCount)
  }

  private let plenty = RoomPlan.Limit(byteCount: .max, used: 1 << 40)

  @Test("takes the oldest use of all stores, after the partials")
  func oldestFirst() {
    let plan = RoomPlan(
      for: 4096, in: 0, budget: .init(byteCount: 8192, used: 8192), volume: plenty)
    #expect(plan.next(among: [head(5), head(3)]) == 1)
    #expect(plan.next(among: [head(5, rank: .partial), head(3)]) == 0)
    #expect(plan.next(among: [head(5), head(3, rank: .outgrown), nil]) == 1)
    #expect(plan.next(among: [nil, nil]) == nil)
  }

  @Test("evicts of the own store only where its volume is full")
  func fullVolume() {
    var plan = RoomPlan(
      for: 4096, in: 1, budget: plenty, volume: .init(byteCount: 4096, used: 4096))
    #expect(plan.next(among: [head(1), nil]) == nil)
    #expect(plan.next(among: [head(1), head(3)]) == 1)
    plan.note(head(3), of: 1)
    #expect(plan.hasRoom)
    #expect(plan.next(among: [head(1), head(3)]) == nil)
  }

  @Test("evicts partials only where partials take too much")
  func tooManyPartials() {
    var plan = RoomPlan(
      for: 8192, in: 0, budget: plenty, volume: plenty,
      partials: .init(byteCount: 8192, used: 8192))
    #expect(plan.next(among: [head(1), head(3, rank: .partial)]) == 1)
    plan.note(head(3, rank: .partial), of: 1)
    #expect(!plan.hasRoom)
    plan.note(head(4, rank: .partial), of: 0)
    #expect(plan.hasRoom)
  }

  @Test("knows beforehand whether what may go is enough")
  func inVain() {
    let plan = RoomPlan(
      for: 8192, in: 0, budget: .init(byteCount: 8192, used: 8192),
      volume: .init(byteCount: 8192, used: 4096), partials: .init(byteCount: 8192, used: 4096))
    #expect(plan.canMakeRoom(evicting: 8192, own: 4096, partials: 4096))
    #expect(!plan.canMakeRoom(evicting: 4096, own: 4096, partials: 4096))
    #expect(!plan.canMakeRoom(evicting: 8192, own: 0, partials: 4096))
    #expect(!plan.canMakeRoom(evicting: 8192, own: 4096, partials: 0))
  }

  @Test("overflows with no limit and no need")
  func extremes() {
    let plan = RoomPlan(
      for: 1 << 40, in: 0, budget: .init(byteCount: 0, used: 1 << 50),
      volume: .init(byteCount: .max, used: 0))
    #expect(!plan.hasRoom)
  }
}
