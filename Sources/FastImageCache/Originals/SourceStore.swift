public import Foundation
import Locking
package import OriginalStore
import TableStore

/// Encoded originals on disk, under a byte budget that is never exceeded.
///
/// A cache that has a store keeps what it downloaded: a format that is new, a picture that left its
/// table and a drawing that changed need no download then.
///
/// ```swift
/// var configuration = ImageCache.Configuration()
/// configuration.originals = SourceStore(budget: StorageBudget(byteCount: 512 << 20))
/// let cache = try await ImageCache(formats: [.row], configuration: configuration)
/// ```
///
/// Caches may share a store. A second store on the same folder, in this process or another one, finds
/// originals and removes them, and keeps none until the first is gone. Every read checks each byte:
/// a damaged original is not there, and its file is deleted. Nothing is kept that the server forbids
/// to keep.
///
/// The folder is opened at the first miss. No function of a store is called for a hit.
public final class SourceStore: Sendable {
  /// How long an original is kept, and how long it answers without its server being asked.
  public struct Lifetime: Hashable, Sendable {
    /// Afterwards the original is not there, whatever its server said: 30 days by default.
    public var kept = Duration.seconds(30 * 86_400)

    /// Whether ``kept`` begins anew with each use.
    public var countsFromLastUse = true

    /// How long an original is fresh whose server says nothing of it: 30 days by default.
    public var fresh = Duration.seconds(30 * 86_400)

    /// Whether the server's word on freshness counts; otherwise ``fresh`` holds for all.
    public var obeysServer = true

    /// Whether an original that is not fresh any more answers for one more day, and is asked about
    /// afterwards; later only where no server can be reached. One whose server forbids that
    /// (`must-revalidate`, `no-cache`) never does.
    public var answersStale = true

    /// Creates the default lifetime.
    public init() {}
  }

  /// Something that happened to an original; see ``CacheEvent/original(_:_:)``.
  @nonexhaustive public enum Event: Hashable, Sendable {
    /// Its file is there.
    case stored

    /// It was removed on request.
    case removed

    /// It made room for others.
    case evicted

    /// It was kept for as long as ``Lifetime/kept`` says.
    case expired

    /// Its file was not the one that was written, and is deleted.
    case damaged

    /// It is not kept; the reason is a sentence.
    case refused(String)
  }

  /// Names the folder below ``directory``.
  public let name: String

  /// The folder of this store's files.
  public let directory: URL

  /// The bytes that the store may take, with others that hold it.
  public let budget: StorageBudget

  /// How long originals are kept and believed.
  public let lifetime: Lifetime

  /// When the files may be read on a locked device; effective on Apple platforms.
  public let protection: ImageFormat.Protection

  let shelf: OriginalShelf
  let rule: FreshnessRule
  private let listeners: Listeners
  /// Two, so that a large original does not hold up a small one.
  private let readers = WorkerPool(name: "FastImageCache.originals", width: 2)

  /// A store that opens its folder at the first miss.
  ///
  /// - Parameters:
  ///   - name: Tells stores of one folder apart. Stores of different names share nothing.
  ///   - directory: Holds a folder for each store; by default `<program>/Originals` in the user's
  ///     caches folder, where ``ImageCache/Configuration/directory`` says which program is meant.
  ///   - budget: 256 MiB by default; stores that hold the same one share it.
  ///   - lifetime: How long originals are kept and believed.
  ///   - protection: When the files may be read on a locked device.
  public convenience init(
    name: String = "default", directory: URL? = nil,
    budget: StorageBudget = StorageBudget(byteCount: 256 << 20), lifetime: Lifetime = Lifetime(),
    protection: ImageFormat.Protection = .untilFirstUnlock
  ) {
    self.init(
      name: name, directory: directory, budget: budget, lifetime: lifetime, protection: protection
    ) { _ in }
  }

  /// - Parameter change: Lets tests put clocks and calls of their own in place of the system's.
  package init(
    name: String, directory: URL?, budget: StorageBudget, lifetime: Lifetime,
    protection: ImageFormat.Protection, _ change: (inout OriginalShelf.Settings) -> Void
  ) {
    (self.name, self.budget, self.lifetime) = (name, budget, lifetime)
    self.protection = protection
    let parent =
      directory ?? ProgramFolder.url.appendingPathComponent("Originals", isDirectory: true)
    self.directory = parent.appendingPathComponent(Self.folderName(for: name), isDirectory: true)
    rule = FreshnessRule(
      kept: lifetime.kept, countsFromLastUse: lifetime.countsFromLastUse, fresh: lifetime.fresh,
      obeysServer: lifetime.obeysServer, answersStale: lifetime.answersStale)
    let listeners = Listeners()
    self.listeners = listeners
    var settings = OriginalShelf.Settings(path: self.directory.path)
    settings.protection = FileProtection(protection)
    settings.keepTime = KeepTime(
      seconds: max(0, lifetime.kept.components.seconds),
      countsFromLastUse: lifetime.countsFromLastUse)
    settings.report = { listeners.send($0) }
    settings.freshness = { [rule] facts in
      OriginalTerms(encoded: facts.terms).flatMap(rule.facts).map { RecordedFreshness($0) }
        ?? RecordedFreshness()
    }
    change(&settings)
    shelf = OriginalShelf(settings, budget: budget.shared)
  }

  /// Tells a cache of this store's events and removals, for as long as the cache lives.
  func report(to hub: EventHub, and partials: PartialShelf) { listeners.add(hub, partials) }

  /// Removes originals, and what caches have in memory of their downloads that broke off.
  func remove(
    _ removal: Partials.Removal,
    _ job: @escaping @Sendable (OriginalShelf) throws(TableError) -> Void
  ) async throws(ImageCacheError) {
    // First, so that a load which begins from here on continues none.
    listeners.forget(removal)
    // And last, for a load that took one from the disk between.
    defer { listeners.forget(removal) }
    try await writing(job)
  }

  /// Gives the originals of one entity to another.
  func changeEntity(from old: ImageID, to new: ImageID) async {
    listeners.changeEntity(from: old, to: new)
    let shelf = shelf
    await budget.shared.run { shelf.move(old.tableID, to: new.tableID) }
  }

  // MARK: Lanes

  /// Runs a job of the writing lane, which ends whether or not the calling task is cancelled.
  func writing<Value: Sendable>(
    _ job: @escaping @Sendable (OriginalShelf) throws(TableError) -> Value
  ) async throws(ImageCacheError) -> Value {
    let shelf = shelf
    let result = await budget.shared.run {
      Result { () throws(TableError) in try job(shelf) }
    }
    do throws(TableError) { return try result.get() } catch { throw Self.translated(error) }
  }

  /// Runs a job of a reading lane.
  func reading<Value: Sendable>(
    _ urgency: Urgency,
    _ job: @escaping @Sendable (OriginalShelf) throws(TableError) -> Value
  ) async throws(ImageCacheError) -> Value {
    let shelf = shelf
    do throws(JobError<TableError>) {
      return try await readers.run(urgency: urgency) { _ throws(TableError) in try job(shelf) }
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .refused(let refusal): throw .storageUnavailable("\(refusal)")
      case .failed(let failure): throw Self.translated(failure)
      }
    }
  }

  // MARK: Private

  private static func translated(_ error: TableError) -> ImageCacheError {
    if case .protectedNow = error { return .originalsLocked }
    return ImageCacheError(error)
  }

  /// A name that is empty or too long for a folder is told apart by its hash.
  private static func folderName(for name: String) -> String {
    if let safe = try? TableDirectory.safeName(for: name) { return safe }
    return SHA256.hash(Array(name.utf8)).map { String($0, radix: 16) }.joined(separator: "-")
  }
}

/// The caches that hear of a store's events and removals.
private final class Listeners: Sendable {
  private struct Listener {
    weak var hub: EventHub?
    weak var partials: PartialShelf?
  }

  private let caches = Lock<[Listener]>([])

  func add(_ hub: EventHub, _ partials: PartialShelf) {
    caches.withLock { caches in
      caches.removeAll { $0.hub == nil || $0.hub === hub }
      caches.append(Listener(hub: hub, partials: partials))
    }
  }

  func send(_ event: OriginalEvent) {
    let hubs = caches.withLock { $0.compactMap(\.hub) }
    for hub in hubs { hub.send(CacheEvent(event)) }
  }

  func forget(_ removal: Partials.Removal) {
    for partials in partials { partials.remove(removal) }
  }

  func changeEntity(from old: ImageID, to new: ImageID) {
    for partials in partials { partials.changeEntity(from: old, to: new) }
  }

  private var partials: [PartialShelf] { caches.withLock { $0.compactMap(\.partials) } }
}

extension CacheEvent {
  fileprivate init(_ event: OriginalEvent) {
    self =
      switch event {
      case .stored(let id): .original(ImageID(id), .stored)
      case .removed(let id): .original(ImageID(id), .removed)
      case .damaged(let id): .original(ImageID(id), .damaged)
      case .refused(let id, let reason): .original(ImageID(id), .refused(reason))
      case .evicted: .original(nil, .evicted)
      case .expired: .original(nil, .expired)
      }
  }
}
