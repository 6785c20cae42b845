import ImageSources
import Locking

/// One load's part in an original that may come in several downloads: what there is of it already, and
/// what arrives now.
final class Download: Sendable {
  /// The load's part in the partials in memory, and the fields that it asks for.
  typealias Partial = (
    partials: PartialDownloads, load: PartialDownloads.Load, headers: [String: String]
  )

  private struct State {
    var newest: DownloadBuffer?
    var painter: PreviewPainter?
    var partial: Partial?
    /// The new bytes of the buffers before.
    var formerByteCount = 0
    var isOver = false

    mutating func exchange(for next: DownloadBuffer?) -> DownloadBuffer? {
      formerByteCount += newest?.newByteCount ?? 0
      defer { newest = next }
      return newest
    }
  }

  /// The partials of earlier loads.
  let known: KnownOriginal?

  /// What a store has of it, or will have.
  let disk: OriginalDownload?

  private let state: Lock<State>

  /// Takes what is in memory, or on disk: memory has the bytes behind the last whole block, too.
  ///
  /// - Parameters:
  ///   - headers: The fields that the load asks for. An answer to other fields is not continued.
  ///   - isAnew: Forgets what earlier loads have left, and wants all bytes again.
  ///   - painter: Draws previews of what arrives.
  static func begin(
    of name: OriginalName, for owner: OriginalOwner, with headers: [String: String],
    on partials: PartialDownloads, and disk: OriginalDownload?, isAnew: Bool,
    painter: PreviewPainter?
  ) async -> Download {
    let (load, inMemory) = partials.begin(name, of: owner)
    var known = isAnew ? nil : inMemory
    // What is on disk goes on there, if it is the start of what is in memory.
    if !isAnew, let onDisk = await disk?.known(), known?.bytes.starts(with: onDisk.bytes) != true {
      known = onDisk
    }
    return Download(
      continuing: known.flatMap { $0.terms.isAnswer(to: headers) ? $0 : nil }, to: disk,
      painter: painter, (partials, load, headers))
  }

  /// - Parameters:
  ///   - known: What the load continues. It is kept again where the load fails before more comes.
  ///   - disk: Takes the buffers' blocks to the disk.
  ///   - painter: Draws previews of what arrives.
  ///   - partial: The load's part in the partials in memory.
  init(
    continuing known: KnownOriginal? = nil, to disk: OriginalDownload? = nil,
    painter: PreviewPainter? = nil, _ partial: Partial? = nil
  ) {
    (self.known, self.disk) = (known, disk)
    let newest = known.map {
      DownloadBuffer($0.terms, continuing: $0, byteCountLimit: $0.bytes.count)
    }
    state = Lock(State(newest: newest, painter: painter, partial: partial))
  }

  /// The bytes that have come in this load, those that it has dropped included.
  var receivedByteCount: Int {
    state.withLock { $0.formerByteCount + ($0.newest?.newByteCount ?? 0) }
  }

  /// Begins a buffer in the place of the one before. Previews of that one are shown no more, unless it is
  /// continued. A source may call this late: after ``end()`` nothing of the buffer is kept.
  func begin(
    _ terms: ResponseMetadata, continuing known: KnownOriginal?, byteCountLimit: Int
  ) -> DownloadBuffer {
    let (former, formerPainter) = state.withLock { ($0.newest, $0.painter) }
    // The terms tell the versions apart.
    let painter = known?.terms == former?.terms ? formerPainter : formerPainter?.makeNext()
    let previews = painter.map(PreviewWatch.init)
    let newest = DownloadBuffer(terms, continuing: known, byteCountLimit: byteCountLimit) {
      [disk] buffer, bytes in
      disk?.grow(to: buffer.byteCount, of: buffer)
      previews?.note(bytes, of: buffer)
    }
    let isOver = state.withLock { state in
      if state.isOver { return true }
      state.painter = painter
      _ = state.exchange(for: newest)
      return false
    }
    if !isOver { disk?.begin(terms, continues: known != nil) }
    return newest
  }

  func take() -> DownloadBuffer? { state.withLock { $0.exchange(for: nil) } }

  /// Leaves nothing to be continued: the image was decoded, or cannot be.
  func finish() {
    _ = take()
    disk?.stop()
  }

  /// Leaves to later loads what is to be continued, whatever ends the load. A source may keep this object.
  func end() {
    let (buffer, partial) = state.withLock { state in
      defer { (state.painter, state.partial, state.isOver) = (nil, nil, true) }
      return (state.exchange(for: nil), state.partial)
    }
    disk?.end(keeps: buffer.map { $0.terms.mayBeContinued && $0.terms.mayBeKept } ?? false)
    if let partial {
      partial.partials.end(partial.load, keeping: buffer, askedWith: partial.headers)
    }
  }
}
