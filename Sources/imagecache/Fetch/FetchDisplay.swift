import CommandSupport
import FastImageCache
import Foundation
import Locking

/// How far the images of one call have come: a progress line, and a line for each image that has an
/// end.
///
/// Invariant: lines are written under the lock, so that none is drawn over.
final class FetchDisplay: Sendable {
  enum Outcome: Sendable {
    /// The image is in its tables; `nil` where it was there.
    case there(ByteOrigin?)
    case failed(String)
    case cancelled
  }

  private struct Download {
    var byteCount = 0
    var total: Int?

    /// Below 1, since the image is drawn once all bytes are there.
    var part: Double { total.map { $0 > 0 ? 0.95 * Double(byteCount) / Double($0) : 0 } ?? 0 }
  }

  private struct State {
    /// Those under way.
    var downloads: [URL: Download] = [:]
    /// The sum of their parts.
    var parts = 0.0
    /// Of all images.
    var byteCount = 0
    var doneCount = 0
    var failureCount = 0

    mutating func receive(_ url: URL, _ download: Download) {
      let former = downloads.updateValue(download, forKey: url) ?? Download()
      byteCount += download.byteCount - former.byteCount
      parts += download.part - former.part
    }

    mutating func end(_ url: URL) {
      parts -= downloads.removeValue(forKey: url)?.part ?? 0
      // What rounding has left.
      if downloads.isEmpty { parts = 0 }
    }
  }

  private let imageCount: Int
  private let line: ProgressLine
  private let state = Lock(State())

  init(imageCount: Int) {
    self.imageCount = imageCount
    line = ProgressLine("fetching", total: imageCount)
    state.withLock { show($0) }
  }

  var hasFailures: Bool { state.withLock { $0.failureCount > 0 } }

  /// Notes how many bytes of an image are there, those of earlier calls included.
  func receive(_ url: URL, _ byteCount: Int, of total: Int?) {
    state.withLock { state in
      state.receive(url, Download(byteCount: byteCount, total: total))
      show(state)
    }
  }

  func note(preview file: String, of url: URL) {
    state.withLock { state in
      line.end()
      Console.note("preview \(url.absoluteString): \(file)".printable)
      show(state)
    }
  }

  func end(_ url: URL, _ outcome: Outcome) {
    state.withLock { state in
      state.end(url)
      line.end()
      switch outcome {
      case .there(let origin):
        Console.print("\(url.absoluteString): \(Self.text(of: origin))".printable)
      case .failed(let reason):
        Console.note("failed \(url.absoluteString): \(reason)".printable)
        state.failureCount += 1
      case .cancelled:
        return
      }
      state.doneCount += 1
      show(state)
    }
  }

  /// Takes the progress line away, and says what is left.
  func tell() {
    let (doneCount, failureCount) = state.withLock { ($0.doneCount, $0.failureCount) }
    line.end()
    Console.note("\(doneCount - failureCount) there, \(failureCount) failed")
    if doneCount < imageCount {
      Console.note("\(imageCount - doneCount) of \(imageCount) left; the next call goes on.")
    }
  }

  private func show(_ state: State) {
    line.update(
      state.doneCount,
      fraction: (Double(state.doneCount) + state.parts) / Double(max(imageCount, 1)),
      detail: state.byteCount > 0 ? ", \(state.byteCount.byteText)" : "")
  }

  private static func text(of origin: ByteOrigin?) -> String {
    switch origin {
    case nil: "table"
    case .original: "original"
    case .unchanged: "unchanged"
    case .resumed(let kept, let total): "resumed \(kept.byteText) of \(total.byteText)"
    default: "network"
    }
  }
}
