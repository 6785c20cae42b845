import CommandSupport
import FastImageCache

extension ScrollPass {
  /// Frames of the screen while animations play: ten seconds.
  static let playedFrameCount = 600

  /// All animations played at once, as fast as the work allows.
  ///
  /// - Parameters:
  ///   - timeLimit: Playing stops after this much work; `nil` for no limit.
  ///   - busyFrameLimit: Playing stops after this many busy frames.
  ///   - makeMethod: Its memory counts.
  /// - Throws: `CancellationError`, and the errors of the method.
  init<Method: PlayMethod>(
    playing timelines: [AnimationTimeline], timeLimit: Duration? = nil, busyFrameLimit: Int? = nil,
    _ makeMethod: () throws -> Method
  ) throws {
    self.init()
    ProcessMemory.releaseFreeMemory()
    let startingByteCount = ProcessMemory.privateByteCount()
    let startingFaultCount = PageFaults.majorCount
    var method = try makeMethod()
    var shown = timelines.map { _ in 0 }
    var held = try timelines.indices.map { animation in
      let image = try method.frame(0, of: animation)
      byteSum &+= image.byteSum
      return image
    }
    var work = Duration.zero
    for frame in 1...Self.playedFrameCount {
      try Task.checkCancellation()
      let time = Duration.seconds(1) * frame / 60
      let due = timelines.enumerated().map { ($0, $1.frame(at: time).index) }
        .filter { $1 != shown[$0] }
      if due.isEmpty { continue }
      let start = ThreadTime.now
      for (animation, index) in due {
        held[animation] = try method.frame(index, of: animation)
        byteSum &+= held[animation].byteSum
        shown[animation] = index
      }
      let elapsed = ThreadTime.now - start
      busyFrames.append(BusyFrame(number: frame, milliseconds: elapsed / .milliseconds(1)))
      obtainedCount += due.count
      work += elapsed
      if isOver(after: work, timeLimit, busyFrameLimit) { break }
    }
    privateByteCount = max(ProcessMemory.privateByteCount() - startingByteCount, 0)
    majorFaultCount = PageFaults.majorCount - startingFaultCount
    withExtendedLifetime((held, method)) {}
  }
}
