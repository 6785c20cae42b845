import CommandSupport

/// The list scrolled once from its top to its end, as fast as the work allows.
struct ScrollPass {
  struct BusyFrame {
    let number: Int
    let milliseconds: Double
  }

  /// The frames that brought a row into view, without frame 0, which fills the screen at rest.
  var busyFrames: [BusyFrame] = []

  /// Growth of private memory while the images of a full screen were held, in bytes.
  var privateByteCount = 0

  /// The count of waits for the disk in frames.
  var majorFaultCount = 0

  /// The sum over all bytes that were read, the same for each pass of one way.
  var byteSum: UInt64 = 0

  /// Images that busy frames have obtained.
  var obtainedCount = 0

  init() {}

  /// - Parameters:
  ///   - timeLimit: The list stops after this much work; `nil` for no limit.
  ///   - busyFrameLimit: The list stops after this many busy frames, even before `timeLimit`.
  /// - Throws: `CancellationError`, and the errors of `method`.
  init<Method: ScrollMethod>(
    _ method: Method, _ geometry: ScrollGeometry, timeLimit: Duration? = nil,
    busyFrameLimit: Int? = nil
  ) throws {
    try method.touch()
    busyFrames.reserveCapacity(min(geometry.frameCount, geometry.rowCount))
    var rows = geometry.visibleRows(inFrame: 0)
    var held: [Int: [Method.Image]] = [:]
    held.reserveCapacity(rows.count * 2)
    ProcessMemory.releaseFreeMemory()
    let startingByteCount = ProcessMemory.privateByteCount()
    let startingFaultCount = PageFaults.majorCount

    for row in rows { held[row] = try obtain(row, method, geometry) }
    var work = Duration.zero
    for frame in 1...geometry.frameCount {
      try Task.checkCancellation()
      let next = geometry.visibleRows(inFrame: frame)
      let start = ContinuousClock.now
      for row in rows where !next.contains(row) { held[row] = nil }
      for row in next where !rows.contains(row) {
        held[row] = try obtain(row, method, geometry)
      }
      let elapsed = ContinuousClock.now - start
      let isBusy = next.upperBound > rows.upperBound
      rows = next
      guard isBusy else { continue }
      busyFrames.append(BusyFrame(number: frame, milliseconds: elapsed / .milliseconds(1)))
      work += elapsed
      if isOver(after: work, timeLimit, busyFrameLimit) { break }
    }
    privateByteCount = max(ProcessMemory.privateByteCount() - startingByteCount, 0)
    majorFaultCount = PageFaults.majorCount - startingFaultCount
    withExtendedLifetime(held) {}
  }

  /// Whether one of the limits is reached; that of busy frames counts alone.
  func isOver(after work: Duration, _ timeLimit: Duration?, _ busyFrameLimit: Int?) -> Bool {
    if let busyFrameLimit { return busyFrames.count >= busyFrameLimit }
    return timeLimit.map { work > $0 } == true && busyFrames.count >= Self.fewestBusyFrames
  }

  /// Frames that are measured beyond the time limit, since a percentile needs some.
  private static let fewestBusyFrames = 20

  private mutating func obtain<Method: ScrollMethod>(
    _ row: Int, _ method: Method, _ geometry: ScrollGeometry
  ) throws -> [Method.Image] {
    try geometry.cells(inRows: row..<(row + 1)).map { cell in
      let image = try method.image(ofCell: cell)
      byteSum &+= image.byteSum
      return image
    }
  }
}
