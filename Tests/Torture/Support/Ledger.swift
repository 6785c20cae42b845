import CommandSupport
import Foundation
import Synchronization

/// The steps of a child on a table, in a file that parent and child have mapped, so that they
/// outlive the child.
///
/// A step is written before it begins and marked when it has ended, so that the ledger of a killed
/// child shows the step that was under way.
///
/// `@unchecked Sendable` is safe: a child appends from one thread, and the parent reads while there
/// is no child, except for the count, which is atomic.
final class Ledger: @unchecked Sendable {
  enum Step: Int32, Sendable {
    /// `number` is the table's capacity.
    case open, store, remove, reset, flush, close, end, adopt
  }

  struct Line {
    var step: Int32 = 0
    var entity: Int32 = 0
    var version: Int32 = 0
    var isDone: Int32 = 0
    /// The entity that was evicted, -1 for none and -2 for an unknown one.
    var evicted: Int32 = -1
  }

  static let capacity = 20_000

  private let memory: UnsafeMutableRawPointer
  private let lines: UnsafeMutablePointer<Line>
  private let counter: UnsafeMutablePointer<Atomic<Int>>
  private static let byteCount = 64 + capacity * MemoryLayout<Line>.stride

  init(path: String) throws {
    let file = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0, ftruncate(file, off_t(Self.byteCount)) == 0,
      let memory = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      memory != MAP_FAILED
    else { throw CommandFailure("The ledger \(path) cannot be mapped.") }
    close(file)
    self.memory = memory
    // A fresh file is full of zeros, the bytes of an atomic zero.
    counter = memory.bindMemory(to: Atomic<Int>.self, capacity: 1)
    lines = (memory + 64).bindMemory(to: Line.self, capacity: Self.capacity)
  }

  deinit { munmap(memory, Self.byteCount) }

  var count: Int { counter.pointee.load(ordering: .acquiring) }
  var isFull: Bool { count >= Self.capacity }

  func line(_ index: Int) -> Line { lines[index] }

  func clear() { counter.pointee.store(0, ordering: .releasing) }

  // MARK: Of the child

  func begin(_ step: Step, entity: Int = 0, version: Int = 0) {
    let index = count
    lines[index] = Line(step: step.rawValue, entity: Int32(entity), version: Int32(version))
    counter.pointee.store(index + 1, ordering: .releasing)
  }

  func done(evicted: Int32 = -1) {
    lines[count - 1].evicted = evicted
    lines[count - 1].isDone = 1
  }
}
