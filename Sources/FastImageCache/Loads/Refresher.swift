import ImageSources
import Locking

/// Asks servers whether originals changed that have answered although they are stale, behind the
/// requests.
///
/// Invariants:
/// 1. At most ``width`` originals are revalidated at once, and each once at a time. Others are asked
///    about when they answer again.
/// 2. None begins while a load waits at the limiter of the network.
/// 3. A removal reaches each refresh that was caused by an answer before it: none begins for an image that was removed
///    since its load began, and none keeps an original that was: it would come back.
/// 4. Each waits in the registry like a request, and ends there with the cache. Its failure is an event, as
///    a request's is.
final class Refresher: Sendable {
  /// Few, so that the network stays free for loads that come.
  static let width = 4

  private let underWay = Lock<Set<OriginalName>>([])

  /// Begins to revalidate an original that a load has shown, unless it has to be left for later.
  func revalidate(
    _ request: ImageRequest, _ original: OriginalAccess, shownBy load: Load
  ) {
    let (name, entity) = (original.name, original.owner.entity)
    let registry = load.registry
    guard registry.resources[.network].counts.waiting == 0 else { return }
    let begins = underWay.withLock { $0.count < Self.width && $0.insert(name).inserted }
    guard begins else { return }
    let asking = request.revalidating(keeping: load.storage, shownBy: original.load)
    registry.join(
      [asking], .background, revalidating: .init(entity: entity, load: load.id)
    ) { [self] (_, outcome: consuming InFlightRegistry.Outcome) in
      _ = underWay.withLock { $0.remove(name) }
    }
  }
}
