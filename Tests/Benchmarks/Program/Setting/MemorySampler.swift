import CommandSupport
import Foundation
import Locking

/// Samples the private memory of the process, on a thread of its own.
final class MemorySampler: Sendable {
  struct Sample: Sendable {
    let seconds: Double
    let byteCount: Int
  }

  private struct State {
    var samples: [Sample] = []
    var isOver = false
    var ended: CheckedContinuation<Void, Never>?
    var hasEnded = false
  }

  private let state = Lock(State())

  /// Samples come this far apart, which is shorter than any decode of a photograph.
  private static let interval = 0.0005

  init() {
    let start = ContinuousClock.now
    Thread.detachNewThread { [self] in
      while !state.withLock({ $0.isOver }) {
        let sample = Sample(
          seconds: (ContinuousClock.now - start) / .seconds(1),
          byteCount: ProcessMemory.privateByteCount())
        state.withLock { $0.samples.append(sample) }
        Thread.sleep(forTimeInterval: Self.interval)
      }
      let ended = state.withLock { state in
        state.hasEnded = true
        return state.ended
      }
      ended?.resume()
    }
  }

  /// Ends the sampling and returns the samples.
  nonisolated(nonsending) func end() async -> [Sample] {
    state.withLock { $0.isOver = true }
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        if !state.hasEnded { state.ended = continuation }
        return state.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
    return state.withLock { $0.samples }
  }
}
