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

  private let headers: [String: String]
  private let load: Partials.Load
  private let shelf: PartialShelf

  /// - Parameters:
  ///   - headers: The fields that the load asks for. An answer to other fields is not continued.
  ///   - isAnew: Forgets what earlier loads have left, and wants all bytes again.
  init(
    of name: OriginalName, for entity: ImageID, with headers: [String: String],
    on shelf: PartialShelf, isAnew: Bool
  ) {
    (self.shelf, self.headers) = (shelf, headers)
    let (load, known) = shelf.begin(name, of: entity)
    self.load = load
    self.known = known.flatMap { !isAnew && $0.terms.mayContinueRequest(headers) ? $0 : nil }
    arrivals = ArrivalSlot(continuing: self.known)
  }

  deinit { shelf.end(load, keeping: arrivals.take(), askedWith: headers) }

  /// Leaves nothing to be continued: the picture was decoded, or cannot be.
  func finish() { arrivals.drop() }
}

extension OriginalTerms {
  /// Whether a request with these fields would get the rest of the same answer. One that may not be kept
  /// on disk is continued too.
  fileprivate func mayContinueRequest(_ headers: [String: String]) -> Bool {
    vary != .everything && requestDigest == vary?.digest(of: headers) ?? []
  }
}
