import Foundation
import ImageSources
import LoadQueue
import Locking

/// A load under way: its permit, urgency and progress, and its calls to the registry.
final class Load: Sendable {
  let id: LoadID
  let url: URL?
  /// The key of the request that began the load, and the versions of its entity in other formats then. The bytes may be
  /// older than any other explicit version.
  private let loadKey: LoadKey?
  private let versions: [ImageKey]
  let policy: LoadOptions.CachePolicy
  let urgency: Urgency
  /// The priority of the load's task, and of the tasks that its source or an entity begins, unless
  /// these choose another one.
  let taskPriority: Priority
  let permit: LoadPermit
  let progress: LoadProgress
  /// A load and its registry hold each other until the load leaves the registry.
  let registry: InFlightRegistry

  init(
    id: LoadID, url: URL?, _ loadKey: LoadKey? = nil, _ versions: [ImageKey] = [],
    policy: LoadOptions.CachePolicy = .useCache, priority: Priority, registry: InFlightRegistry
  ) {
    self.loadKey = loadKey
    self.versions = versions
    (self.id, self.url, self.policy, self.registry) = (id, url, policy, registry)
    urgency = Urgency(priority)
    taskPriority = priority
    permit = LoadPermit(registry.resources, urgency: urgency)
    progress = LoadProgress(clock: registry.clock)
  }
}

/// The loader's side of ``InFlightRegistry``: all that a load asks and tells.
extension Load {
  /// The explicit version for which the load began.
  var version: ImageID? { loadKey?.version }

  /// Whether all subscribers are content with a placeholder.
  var isPlaceholder: Bool { loadKey?.isPlaceholder == true }

  /// Reads or changes the load's record in the registry; `nil` if the load has ended.
  private func look<Answer>(
    _ body: (inout LoadRecord<ImageRequest, InFlightRegistry.Handle>) -> Answer
  ) -> Answer? {
    registry.state.withLock { $0.registry.look(at: id, body) }
  }

  /// Whether the load's bytes may be drawn for an image that is drawn along.
  ///
  /// - Parameter isKept: Whether they are those of an earlier load, whose source was not asked.
  func shows(_ sibling: ImageRequest, isKept: Bool) -> Bool {
    guard let other = sibling.explicitVersion else { return true }
    return other == version || !isKept && versions.contains(sibling.key)
  }

  /// Hands out the requests that wait and were not handed out yet, the oldest first.
  func take() -> [ImageRequest] { look { $0.take() } ?? [] }

  /// Hands out a request for an image that joined with another address than the load's.
  func takeAlternate(for key: ImageKey) -> ImageRequest? {
    look { $0.takeAlternate(for: key) } ?? nil
  }

  /// Whether ``take()`` would hand out a request.
  var hasRequests: Bool { look { $0.hasRequests } == true }

  /// Whether the load is in the registry.
  var isUnderWay: Bool {
    registry.state.withLock { $0.registry.isUnderWay(id) }
  }

  /// Whether the load has subscribers.
  var isWanted: Bool { look { !$0.waiting.isEmpty } == true }

  /// Whether the load has subscribers for an image.
  func isWanted(for key: ImageKey) -> Bool {
    look { $0.wantedIndex(of: key) != nil } == true
  }

  /// Notes that the source is asked now: a reload or revalidation that comes from here on asks anew.
  func noteAsked() {
    _ = look { $0.hasAsked = true }
    progress.noteAsked()
  }

  /// Notes that the load goes to another address, and so begins another download: no request joins for the image that was
  /// delivered, and the last request that leaves ends the load.
  func noteMoved() { _ = look { $0.hasDelivered = false } }

  /// What the load may write for any of its requests.
  var storage: LoadOptions.Storage { look { $0.storage() } ?? .none }

  /// What the requests say of the time for which the original is kept.
  var originalLifetime: SharedOriginalLifetime {
    look { $0.originalLifetime } ?? SharedOriginalLifetime()
  }

  /// What the load may write for an image that is drawn now. From now on no request joins for it that wants more.
  func settleStorage(for request: ImageRequest) -> LoadOptions.Storage {
    guard request.storage < .all else { return .all }
    return max(request.storage, look { $0.settleStorage(for: request.key) } ?? .none)
  }

  /// Whether the load's original may be kept; see ``LoadRegistry/keepsOriginal(of:_:)``.
  func keepsOriginal(of entity: ImageID) -> Bool {
    registry.state.withLock { $0.registry.keepsOriginal(of: entity, id) }
  }

  /// Answers all subscribers for one image of the load.
  ///
  /// - Parameters:
  ///   - isFetched: Whether the image was made of the load's fetch.
  ///   - animation: For requests that ask for all frames.
  func finish(
    _ key: ImageKey, isFetched: Bool, with outcome: consuming InFlightRegistry.Outcome,
    _ facts: AnswerFacts = .table, animation: CachedAnimation? = nil
  ) {
    let subscribers = registry.step { $0.registry.finish(key, of: id, isFetched: isFetched) }
    if let animation { for subscriber in subscribers { subscriber.animation?.give(animation) } }
    if case .failure(let error) = outcome, !subscribers.isEmpty {
      registry.recorder.failed(key, error)
    }
    registry.answer(subscribers, outcome, facts)
  }

  /// Ends the load unless ``take()`` would hand out a request.
  func retire() -> Bool {
    registry.step { $0.registry.retire(id) }
  }

  /// Ends the load and answers all its subscribers.
  ///
  /// - Parameter error: Asked only if there is a subscriber: most loads that fail were given up before.
  func fail(with error: @autoclosure () -> ImageCacheError) {
    let (loadKey, failed) = registry.step { ($0.registry.loadKey(of: id), $0.registry.fail(id)) }
    let (subscribers, requests) = failed
    if subscribers.isEmpty { return }
    let error = error()
    if let loadKey { registry.remember(error, of: requests, loadKey, load: id.number) }
    for request in requests { registry.recorder.failed(request.key, error) }
    registry.answer(subscribers, .failure(error))
  }
}
