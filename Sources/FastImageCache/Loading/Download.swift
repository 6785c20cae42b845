/// One load's part in an original that may come in several downloads: what there is of it already, and
/// what arrives now.
///
/// The object gives back to the shelf what is left to be continued, once, when its load lets go of it:
/// whatever ended the load.
final class Download: Sendable {
  /// What earlier loads have left.
  let known: KnownOriginal?

  /// Takes what the source begins.
  let arrivals: ArrivalSlot

  private let load: Partials.Load
  private let shelf: PartialShelf

  /// - Parameter isAnew: Forgets what earlier loads have left, and wants all bytes again.
  init(of name: OriginalName, for entity: ImageID, on shelf: PartialShelf, isAnew: Bool) {
    self.shelf = shelf
    let (load, known) = shelf.begin(name, of: entity)
    self.load = load
    self.known = isAnew ? nil : known
    arrivals = ArrivalSlot(continuing: self.known)
  }

  deinit { shelf.end(load, keeping: arrivals.take()) }

  /// Leaves nothing to be continued: the picture was decoded, or cannot be.
  func finish() { arrivals.drop() }
}
