import Testing

@testable import OriginalStore

@Suite("The claims on partials", .timeLimit(.minutes(10)))
struct PartialClaimsTests {
  @Test("that are over stay so until their load ends, whatever it opens meanwhile")
  func over() throws {
    let originals = try Originals()
    let file = try originals.open().keepBlocks(1, 1, count: 1)
    let key = originalKey(1).digest
    var claims = PartialClaims()
    let isTaken = claims.take(key, for: 1)
    _ = claims.revoke(key)
    _ = claims.open(key, PartialClaims.Writing(file: file, arrival: 1, blockCount: 1))
    #expect(claims.writing(key, 1, arrival: 1) == nil)
    let isTakenAgain = claims.take(key, for: 1)
    let wasOver = claims.giveBack(key, of: 1).wasOver
    let isNext = claims.take(key, for: 2)
    #expect(isTaken && !isTakenAgain && wasOver && isNext)
  }
}
