import TestSupport
import Testing

@testable import TableStore

/// The lives in which a table meets every path that opens, makes, writes or copies a file.
enum LifeStory: String, CaseIterable, Sendable {
  case stored, evicted, suspended, emptied, resized, reclassified, cut, second, nameless

  /// Slots of the table at first.
  var slots: Int { self == .evicted ? 2 : 8 }

  /// The geometry, which is not the named file's for a table without a name.
  var geometry: TableGeometry {
    self == .nameless
      ? TableGeometry(width: 8, height: 8, rowByteCount: 64, pixelFormat: 7) : Fixture.geometry
  }

  func play(_ life: LockedLife) throws {
    switch self {
    case .stored: playStored(life)
    case .evicted: playEvicted(life)
    case .suspended: playSuspended(life)
    case .emptied: playEmptied(life)
    case .resized: playResized(life)
    case .reclassified: try playReclassified(life)
    case .cut: playCut(life)
    case .second: try playSecond(life)
    case .nameless: try playNameless(life)
    }
  }

  /// Unlocks the device and goes on, without reopening and then with it.
  private func goOn(_ life: LockedLife) {
    life.unlock()
    life.store(9)
    life.flush()
    guard self != .nameless else { return }
    life.close()
    life.look(for: 1...9)
    life.close()
  }

  private func begin(_ life: LockedLife) {
    life.open()
    for entity in 1...3 { life.store(entity) }
    life.flush()
  }

  private func playStored(_ life: LockedLife) {
    begin(life)
    life.look(for: 1...3)
    life.close()
    life.open()
    life.look(for: 1...1)
    life.store(2, 2)
    life.setMetadata([7], of: 3)
    life.remove(1)
    life.store(4)
    life.setMetadata([8], of: 2, 2)
    life.flush()
    life.look(for: 1...4)
    goOn(life)
  }

  private func playEvicted(_ life: LockedLife) {
    life.open()
    for entity in 1...2 { life.store(entity) }
    life.flush()
    life.close()
    // Learns one record of two, that of the image to be kept.
    life.look(for: 2...2)
    life.store(3, evicting: 1)
    life.device.unlock()
    life.storeIfMissing(3, evicting: 1)
    life.unlock()
    life.close()
    life.look()
  }

  private func playSuspended(_ life: LockedLife) {
    begin(life)
    life.suspend()
    life.look(for: 1...3)
    life.store(4)
    life.remove(3)
    life.setMetadata([7], of: 2)
    life.flush()
    life.look(for: 1...4)
    life.store(5)
    life.remove(1)
    life.resume()
    life.look(for: 1...5)
    life.store(6)
    life.flush()
    goOn(life)
  }

  private func playEmptied(_ life: LockedLife) {
    begin(life)
    life.removeAll()
    life.store(4)
    life.suspend()
    life.removeAll()
    life.store(5)
    life.resume()
    life.flush()
    goOn(life)
  }

  private func playResized(_ life: LockedLife) {
    begin(life)
    life.close()
    life.open(slots: 12)
    life.look(for: 1...3)
    life.close()
    life.open(slots: 6)
    life.store(4)
    life.flush()
    goOn(life)
  }

  private func playReclassified(_ life: LockedLife) throws {
    let former = try life.fixture.open(slots: 8)
    for entity in 1...3 { try former.store(key(entity)) }
    // A lease on the mapped file, which the table must leave.
    let held = try #require(former.entry(for: key(1)))
    former.close()
    life.expect(1...3)
    life.open()
    life.look(for: 1...3)
    life.store(4)
    goOn(life)
    #expect(held.shows(key(1)))
  }

  private func playCut(_ life: LockedLife) {
    begin(life)
    // The third image is in the third slot, or in one before where a store was refused.
    life.cut(behind: 2, losing: [3])
    life.remove(8)
    life.store(4)
    life.look(for: 1...4)
    life.flush()
    goOn(life)
  }

  private func playSecond(_ life: LockedLife) throws {
    let owner = try Stranger(life.fixture, protection: .complete, system: LockableDevice().system)
    let drawing = try life.fixture.open("drawing")
    for entity in 1...3 { try owner.store(key(entity), from: drawing) }
    life.expect(1...3)
    life.open()
    life.look(for: 1...3)
    life.store(4)
    life.remove(2)
    life.setMetadata([7], of: 1)
    life.look(for: 1...4)
    owner.core.close()
    life.store(5)
    life.look(for: 1...5)
    life.flush()
    drawing.close()
    goOn(life)
  }

  private func playNameless(_ life: LockedLife) throws {
    let named = try life.fixture.open()
    begin(life)
    life.setMetadata([7], of: 2)
    life.remove(1)
    life.look(for: 1...3)
    life.removeAll()
    life.store(4)
    life.suspend()
    life.resume()
    goOn(life)
    named.close()
  }
}

@Suite("A table whose device is locked at any moment of its life", .timeLimit(.wholeRun))
struct LockedDeviceTests {
  /// - Returns: The number of calls that were refused; `nil` after a complaint.
  private func play(_ story: LifeStory, from call: Int, count: Int) throws -> Int? {
    let device = LockableDevice()
    let fixture = try Fixture(inMemory: true)
    device.lock(beforeCall: call, forCalls: count)
    let moment = "\(story), \(count) calls from call \(call)"
    let life = try LockedLife(
      fixture, device, moment: moment, slots: story.slots, geometry: story.geometry)
    try story.play(life)
    let files = try fixture.fileNames.filter { !$0.hasPrefix("drawing") }
    try #require(files.count == 1, "\(moment)")
    return life.isRight ? device.refusedCount : nil
  }

  @Test("does not stop trying after stores that the lock interrupted")
  func isNotPaused() throws {
    let device = LockableDevice()
    let table = try Fixture().open(protection: .complete, system: device.system)
    for _ in 1...4 {
      // The call before asks whether the device is locked.
      device.lock(beforeCall: device.callCount + 1, forCalls: 100)
      #expect(throws: TableError.protectedDataUnavailable(name: "rows")) { try table.store(key(1)) }
      device.unlock()
    }
    try table.store(key(1))
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
  }

  @Test("goes on with every image, whenever the device is unlocked", arguments: LifeStory.allCases)
  func livesOn(story: LifeStory) throws {
    for call in stride(from: 0, to: Int.max, by: Sanitizer.sweepStep) {
      var count = 1
      // Longer and longer, until the device is locked to the end of the story. While it is locked, a
      // step makes one call or a few, so that long times end in each step too.
      while true {
        // One life that went wrong tells more than thousands.
        guard let refusedCount = try play(story, from: call, count: count) else { return }
        if refusedCount == 0 {
          // Fewer would mean that the lock did not reach the changes.
          #expect(call > 13)
          return
        }
        if refusedCount < count { break }
        count *= 3
      }
    }
  }
}
