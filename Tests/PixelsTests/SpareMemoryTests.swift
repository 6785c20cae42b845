import Foundation
import Locking
import Pixels
import Testing

#if os(Linux)
  import CTestProbes
#endif

@Suite("Spare memory", .timeLimit(.minutes(10)))
final class SpareMemoryTests {
  private let kilobyte = 1 << 10
  private let memory = SpareMemory(byteLimit: 1000 << 10)
  private let use: SpareMemoryUse
  private var taken: [SpareMemory.Block] = []

  init() { use = SpareMemoryUse(of: [memory]) }

  deinit {
    for block in taken { memory.give(block) }
  }

  /// Takes a block, gives it back and returns where it was.
  private func keep(_ kilobytes: Int) throws -> UnsafeMutableRawPointer {
    let block = try #require(memory.take(byteCount: kilobytes * kilobyte))
    memory.give(block)
    return block.start
  }

  private func take(_ kilobytes: Int) throws -> UnsafeMutableRawPointer {
    let block = try #require(memory.take(byteCount: kilobytes * kilobyte))
    taken.append(block)
    return block.start
  }

  @Test("goes to whoever needs as much, once")
  func givesOut() throws {
    let first = try keep(200)
    #expect(try take(200) == first)
    #expect(try take(200) != first)
  }

  @Test("goes to whoever needs less, but not less than half")
  func fitsRoughly() throws {
    let kept = try keep(200)
    #expect(try take(99) != kept)
    #expect(try take(201) != kept)
    #expect(try take(100) == kept)
  }

  @Test("goes where least of it is wasted")
  func fitsBest() throws {
    let blocks = try [300, 200, 250].map { try #require(memory.take(byteCount: $0 * kilobyte)) }
    for block in blocks { memory.give(block) }
    #expect(try take(190) == blocks[1].start)
    #expect(try take(190) == blocks[2].start)
  }

  @Test("is no more than its limit: what was kept longest goes first")
  func keepsItsLimit() throws {
    let blocks = try [400, 350, 300].map { try #require(memory.take(byteCount: $0 * kilobyte)) }
    for block in blocks { memory.give(block) }
    #expect(memory.keptByteCount == 650 * kilobyte)
    #expect(try take(350) == blocks[1].start)
    #expect(try take(300) == blocks[2].start)
  }

  @Test("is neither of what malloc keeps itself nor of what is larger than the limit")
  func leavesTheRest() throws {
    _ = try keep(63)
    _ = try keep(1001)
    #expect(memory.keptByteCount == 0)
  }

  @Test("goes back to the system when told")
  func clears() throws {
    _ = try keep(200)
    memory.clear()
    #expect(memory.keptByteCount == 0)
  }

  @Test("is kept only while somebody wants that")
  func endsWithItsUsers() throws {
    var other: SpareMemoryUse? = SpareMemoryUse(of: [memory])
    use.pause()
    use.pause()
    _ = try keep(200)
    #expect(memory.keptByteCount == 200 * kilobyte)
    other = nil
    #expect(memory.keptByteCount == 0)
    _ = try keep(200)
    #expect(memory.keptByteCount == 0)
    use.resume()
    _ = try keep(200)
    #expect(memory.keptByteCount == 200 * kilobyte)
    #expect(other == nil)
  }

  @Test("makes room when there is no other memory", arguments: [1, 2])
  func makesRoom(refusalCount: Int) {
    let refusalsLeft = Lock(0)
    let memory = SpareMemory(byteLimit: 1000 << 10) { byteCount in
      let isRefused = refusalsLeft.withLock { left in
        defer { left = max(0, left - 1) }
        return left > 0
      }
      return isRefused ? nil : malloc(byteCount)
    }
    let use = SpareMemoryUse(of: [memory])
    defer { use.pause() }
    if let block = memory.take(byteCount: 200 * kilobyte) { memory.give(block) }
    #expect(memory.keptByteCount == 200 * kilobyte)

    refusalsLeft.withLock { $0 = refusalCount }
    let block = memory.take(byteCount: 300 * kilobyte)
    #expect((block != nil) == (refusalCount == 1))
    #expect(memory.keptByteCount == 0)
    if let block { memory.give(block) }
  }

  #if os(Linux)
    @Test("is not touched unnoticed by whoever gave it away, nor beyond what was asked for")
    func isWatched() throws {
      let kept = try keep(200)
      let isWatched = probe_watches_memory() != 0
      #expect((probe_may_touch(kept) == 0) == isWatched)
      #expect(try take(150) == kept)
      #expect(probe_may_touch(kept) != 0)
      #expect(probe_may_touch(kept + 150 * kilobyte - 1) != 0)
      #expect((probe_may_touch(kept + 150 * kilobyte) == 0) == isWatched)
    }
  #endif
}

@Suite("A bitmap's memory", .timeLimit(.minutes(10)))
struct BitmapMemoryTests {
  @Test("is zeroed for those who do not write all of it, whatever was in it before")
  func isZeroed() throws {
    let use = SpareMemoryUse()
    defer { use.pause() }
    let layout = try #require(
      PixelLayout(size: PixelSize(width: 301, height: 503), format: .bgra32))
    for _ in 0..<2 {
      let bitmap = try Bitmap(layout: layout) { bytes in
        #expect(bytes.allSatisfy { $0 == 0 })
        bytes.initializeMemory(as: UInt8.self, repeating: 0xab)
      }
      #expect(bitmap.withPixels { $0.byteCount } == layout.byteCount)
    }
  }
}
