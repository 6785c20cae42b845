import Foundation
import Testing

@testable import FastImageCache

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

  @Test("joins requests of equal conditions, copied or made anew, and of no others")
  mutating func joinsEqualIdentities() {
    func loadKey(_ headers: [String: String], _ avoids: NetworkCosts = .expensive) -> LoadKey {
      var options = LoadOptions(account: AccountID("a"), avoids: avoids)
      options.headers = headers
      return .url(
        URL(fileURLWithPath: "/photo.jpg"), LoadIdentity(options.conditions, beginsWithKept: false))
    }
    let headers = ["Accept": "image/webp", "X-\u{E9}": "1"]
    let load = join(1, row, loadKey: loadKey(headers)).load
    var others = [headers.merging(["Accept": "image/png"]) { $1 }, [:]]
    others += [headers.filter { $0.key == "Accept" }, headers.merging(["Y": "1"]) { $1 }]
    others.append(["Accept": "image/webp", "X-e\u{301}": "1"])
    var loads = [load, join(2, row, loadKey: loadKey(headers, .constrained)).load]
    for (index, headers) in others.enumerated() {
      loads.append(join(3 + index, row, loadKey: loadKey(headers)).load)
    }
    #expect(Set(loads).count == 7)
    #expect(join(20, row, loadKey: loadKey(headers)).load == load)
  }

  @Test("builds no identity for conditions that forbid no sharing")
  func buildsNoIdentity() {
    var options = LoadOptions(.reload)
    options.timeout = .seconds(1)
    #expect(LoadIdentity(options.conditions, beginsWithKept: false) == nil)
    #expect(LoadIdentity(.ordinary, beginsWithKept: false) == nil)
  }
}
