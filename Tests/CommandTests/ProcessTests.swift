import CommandSupport
import Foundation
import Locking
import TestSupport
import Testing

@Suite("The process", .timeLimit(.minutes(10)))
struct ProcessTests {
  /// Not the difference of two readings: other suites free memory between them. The memory that
  /// this test holds is a lower bound at any moment.
  @Test("sees the memory that it holds itself")
  func memory() {
    let byteCount = 256 << 20
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 1)
    #expect(ProcessMemory.privateByteCount() >= byteCount)
  }

  @Test("counts the blocks of files and not their holes")
  func disk() throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "sparse")
    #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
    #expect(truncate(file.path, 1 << 30) == 0)
    #expect(DiskUsage.allocatedByteCount(of: file) < 1 << 20)
    try Data(repeating: 1, count: 1 << 16).write(to: directory.url.appending(path: "full"))
    let sum = DiskUsage.allocatedByteCount(in: directory.url)
    #expect(sum >= 1 << 16 && sum < 1 << 20)
  }

  @Test("works on a few items at a time and on each of them once")
  func concurrentWork() async {
    let active = Lock((now: 0, most: 0))
    var done: [Int] = []
    await ConcurrentWork.forEach(0..<50, width: 3) { item in
      active.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      await Task.yield()
      active.withLock { $0.now -= 1 }
      return item
    } collect: {
      done.append($0)
    }
    #expect(done.sorted() == Array(0..<50))
    #expect(active.withLock { $0.most } <= 3)
  }

  @Test("begins nothing new after a cancellation")
  func cancelledWork() async {
    let started = Counter()
    let task = Task {
      await ConcurrentWork.forEach(0..<50, width: 1) { item in
        started.increment()
        return item
      } collect: { item in
        if item == 4 { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await task.value
    #expect(started.value == 5)
  }

  /// Several, since a signal is lost only in a race.
  @Test("loses no signal once its work has begun", arguments: 1...10)
  func firstSignal(number: Int) async {
    await #expect(processExitsWith: .exitCode(130)) {
      let status = await Interruption.cancelling {
        kill(getpid(), SIGTERM)
        // Until the cancellation.
        try? await CancellableGate().pass()
        return .success
      }
      exit(status.rawValue)
    }
  }

  @Test("ends at the second signal, though its work goes on after the first")
  func secondSignal() async {
    await #expect(processExitsWith: .exitCode(130)) {
      _ = await Interruption.cancelling {
        kill(getpid(), SIGTERM)
        try? await CancellableGate().pass()
        kill(getpid(), SIGTERM)
        await Gate().pass()
        return .success
      }
    }
  }
}
