import ImageSources

/// One load's part in an original that may come in several downloads: what there is of it already, and
/// what arrives now.
///
/// The object gives back to the shelf what is left to be continued, once, when its load lets go of it:
/// whatever ended the load.
final class Download: Sendable {
  /// The partials of earlier loads.
  let known: KnownOriginal?

  /// Takes what the source begins.
  let buffers: DownloadBuffers

  /// What a store has of it, or will have.
  let disk: OriginalDownload?

  private let headers: [String: String]
  private let load: PartialShelf.Load
  private let shelf: PartialShelf

  /// Takes what is in memory, or on disk: memory has the bytes behind the last whole block, too.
  ///
  /// - Parameters:
  ///   - headers: The fields that the load asks for. An answer to other fields is not continued.
  ///   - isAnew: Forgets what earlier loads have left, and wants all bytes again.
  ///   - painter: Draws previews of what arrives.
  static func begin(
    of name: OriginalName, for owner: OriginalOwner, with headers: [String: String],
    on shelf: PartialShelf, and disk: OriginalDownload?, isAnew: Bool, painter: PreviewPainter?
  ) async -> Download {
    let (load, inMemory) = shelf.begin(name, of: owner)
    var known = isAnew ? nil : inMemory
    // What is on disk goes on there, if it is the start of what is in memory.
    if !isAnew, let onDisk = await disk?.known(), known?.bytes.starts(with: onDisk.bytes) != true {
      known = onDisk
    }
    return Download(
      load, known.flatMap { $0.terms.isAnswer(to: headers) ? $0 : nil }, headers, shelf, disk,
      painter)
  }

  private init(
    _ load: PartialShelf.Load, _ known: KnownOriginal?, _ headers: [String: String],
    _ shelf: PartialShelf, _ disk: OriginalDownload?, _ painter: PreviewPainter?
  ) {
    (self.load, self.known, self.headers) = (load, known, headers)
    (self.shelf, self.disk) = (shelf, disk)
    buffers = DownloadBuffers(continuing: known, to: disk, painter: painter)
  }

  deinit {
    let buffer = buffers.take()
    disk?.end(keeps: buffer.map { $0.terms.mayBeContinued && $0.terms.mayBeKept } ?? false)
    shelf.end(load, keeping: buffer, askedWith: headers)
  }

  /// Leaves nothing to be continued: the image was decoded, or cannot be.
  func finish() {
    buffers.drop()
    disk?.stop()
  }
}
