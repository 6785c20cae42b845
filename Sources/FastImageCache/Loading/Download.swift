/// One load's part in an original that may come in several downloads: what there is of it already, and
/// what arrives now.
///
/// The object gives back to the shelf what is left to be continued, once, when its load lets go of it:
/// whatever ended the load.
final class Download: Sendable {
  /// The partials of earlier loads.
  let known: KnownOriginal?

  /// Takes what the source begins.
  let arrivals: ArrivalSlot

  /// What a store has of it, or will have.
  let disk: PartialOnDisk?

  private let headers: [String: String]
  private let load: Partials.Load
  private let shelf: PartialShelf

  /// Takes what is in memory, and else what is on disk: memory has the bytes behind the last whole block,
  /// too.
  ///
  /// - Parameters:
  ///   - headers: The fields that the load asks for. An answer to other fields is not continued.
  ///   - isAnew: Forgets what earlier loads have left, and wants all bytes again.
  ///   - painter: Draws previews of what arrives.
  static func begin(
    of name: OriginalName, for entity: ImageID, with headers: [String: String],
    on shelf: PartialShelf, and disk: PartialOnDisk?, isAnew: Bool, painter: PreviewPainter?
  ) async -> Download {
    let (load, inMemory) = shelf.begin(name, of: entity)
    var known = isAnew ? nil : inMemory
    if !isAnew, known == nil { known = await disk?.known() }
    return Download(
      load, known.flatMap { $0.terms.isAnswer(to: headers) ? $0 : nil }, headers, shelf, disk,
      painter)
  }

  private init(
    _ load: Partials.Load, _ known: KnownOriginal?, _ headers: [String: String],
    _ shelf: PartialShelf, _ disk: PartialOnDisk?, _ painter: PreviewPainter?
  ) {
    (self.load, self.known, self.headers) = (load, known, headers)
    (self.shelf, self.disk) = (shelf, disk)
    arrivals = ArrivalSlot(continuing: known, to: disk, painter: painter)
  }

  deinit {
    let arrival = arrivals.take()
    disk?.end(keeping: arrival)
    shelf.end(load, keeping: arrival, askedWith: headers)
  }

  /// Leaves nothing to be continued: the picture was decoded, or cannot be.
  func finish() {
    arrivals.drop()
    disk?.stop()
  }
}
