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

  @Test("has nothing revalidated whose picture or original was removed, or whose load has ended")
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

  @Test("keeps an image as the request wants that keeps most, until it is drawn to keep less")
  mutating func settlesStorage() {
    let load = join(1, row, storage: .none).load
    #expect(join(2, row, storage: .originalsOnly).load == load)
    #expect(join(3, dot, storage: .none).load == load)
    #expect(registry.storage(of: load, for: row) == .originalsOnly)
    #expect(registry.storage(of: load, for: dot) == .none)
    #expect(registry.storage(of: load) == .originalsOnly)
    // Those of frames are drawn with their image.
    #expect(registry.settleStorage(for: row.animation, of: load) == .originalsOnly)
    #expect(join(4, row, storage: .originalsOnly).load == load)
    #expect(join(5, dot, storage: .all).load == load)
    #expect(registry.storage(of: load, for: dot) == .all)
    #expect(join(6, row, storage: .all).load != load)
    #expect(join(7, row, storage: .none).load != load)
  }

  @Test("never joins requests of different identities")
  mutating func separatesIdentities() throws {
    let url = URL(fileURLWithPath: "/photo.jpg")
    var headers = LoadOptions()
    headers.headers = ["Accept": "image/webp"]
    let options: [LoadOptions] = [
      LoadOptions(scope: .cache), LoadOptions(scope: .local),
      LoadOptions(account: AccountID("a")), LoadOptions(account: AccountID("b")), headers,
    ]
    var loads = [join(1, row).load]
    for (index, options) in options.enumerated() {
      let identity = try #require(LoadIdentity(options.conditions, beginsWithKept: false))
      loads.append(join(2 + index, row, loadKey: .url(url, identity)).load)
      #expect(join(20 + index, row, loadKey: .url(url, identity)).load == loads.last)
    }
    let kept = LoadIdentity(.ordinary, beginsWithKept: true)
    loads.append(join(40, row, loadKey: .url(url, kept)).load)
    // Equal as text, and not as bytes.
    for (number, value) in [(50, "\u{E9}"), (51, "e\u{301}")] {
      headers.headers = ["X-Name": value]
      let identity = LoadIdentity(headers.conditions, beginsWithKept: false)
      loads.append(join(number, row, loadKey: .url(url, identity)).load)
    }
    #expect(Set(loads).count == 9)
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
