import ImageSources
import Locking

/// The newest buffer of one load, for the loader to keep if the load fails.
final class DownloadBuffers: Sendable {
  private struct State {
    var newest: DownloadBuffer?
    var painter: PreviewPainter?
    /// The new bytes of the buffers before.
    var formerByteCount = 0

    mutating func exchange(for next: DownloadBuffer?) -> DownloadBuffer? {
      formerByteCount += newest?.newByteCount ?? 0
      defer { newest = next }
      return newest
    }
  }

  private let state: Lock<State>
  private let download: OriginalDownload?

  /// - Parameters:
  ///   - known: What the load continues. It is kept again where the load fails before more comes.
  ///   - download: Takes the buffers' blocks to the disk.
  ///   - painter: Draws previews of what arrives.
  init(
    continuing known: KnownOriginal? = nil, to download: OriginalDownload? = nil,
    painter: PreviewPainter? = nil
  ) {
    self.download = download
    let newest = known.map {
      DownloadBuffer($0.terms, continuing: $0, byteCountLimit: $0.bytes.count)
    }
    state = Lock(State(newest: newest, painter: painter))
  }

  /// The bytes that have come in this load, those that it has dropped included.
  var receivedByteCount: Int {
    state.withLock { $0.formerByteCount + ($0.newest?.newByteCount ?? 0) }
  }

  /// Begins a buffer in the place of the one before. Previews of that one are shown no more, unless it is
  /// continued.
  func begin(
    _ terms: OriginalTerms, continuing known: KnownOriginal?, byteCountLimit: Int
  ) -> DownloadBuffer {
    let (former, formerPainter) = state.withLock { ($0.newest, $0.painter) }
    // The terms tell the versions apart.
    let painter = known?.terms == former?.terms ? formerPainter : formerPainter?.makeNext()
    download?.begin(terms, continues: known != nil)
    let previews = painter.map(PreviewWatch.init)
    let newest = DownloadBuffer(terms, continuing: known, byteCountLimit: byteCountLimit) {
      [download] buffer, bytes in
      download?.grow(to: buffer.byteCount, of: buffer)
      previews?.note(bytes, of: buffer)
    }
    _ = state.withLock { state in
      state.painter = painter
      return state.exchange(for: newest)
    }
    return newest
  }

  func take() -> DownloadBuffer? { state.withLock { $0.exchange(for: nil) } }

  /// Forgets what has arrived, because it is not the present original: the server has another one or
  /// none, or sent more than it announced.
  func drop() { _ = take() }
}
