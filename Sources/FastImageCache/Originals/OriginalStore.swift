import Dispatch
public import Foundation
import ImageSources
import LoadQueue
import Locking
import OriginalDatabase
package import TableStore

/// Encoded originals on disk, within a number of bytes that is never exceeded.
///
/// A cache that has a store keeps what it downloaded: a format that is new, an image that left its
/// table and a drawing that changed need no download then.
///
/// ```swift
/// var configuration = ImageCache.Configuration()
/// configuration.originals = OriginalStore(byteLimit: 512 << 20)
/// let cache = try await ImageCache(formats: [.row], configuration: configuration)
/// ```
///
/// Caches may share a store object, and several processes a folder: each keeps, finds and removes originals there.
/// Every read checks each byte: a damaged original is not there. Nothing is kept that the server forbids to keep.
///
/// A store is a SQLite database, and a file for each original. It is opened at the first miss; a hit calls no
/// function of it. Where it cannot be used the cache goes on without originals, and sends
/// ``OriginalEvent/unavailable(_:)``; ``open()`` throws the reason.
public final class OriginalStore: Sendable {
  /// How long an original is kept, and how long it answers without its server being asked.
  public struct Lifetime: Hashable, Sendable {
    /// Afterwards the original is not there, whatever its server said: 30 days by default.
    public var maximumAge = Duration.seconds(30 * 86_400)

    /// Whether ``maximumAge`` begins anew with each use.
    public var renewsOnUse = true

    /// How long an original is fresh whose server says nothing of it: 30 days by default.
    public var defaultFreshness = Duration.seconds(30 * 86_400)

    /// Whether the server's word on freshness counts; otherwise ``defaultFreshness`` holds for all.
    public var respectsServer = true

    /// Whether an original that is not fresh any more answers for one more day, and is asked about
    /// afterwards; later only where no server can be reached. One whose server forbids that
    /// (`must-revalidate`, `no-cache`) never does.
    public var servesStale = true

    /// Creates the default lifetime.
    public init() {}
  }

  /// The folder of the store's files.
  public let directory: URL

  /// The most bytes that the folder takes, the database and its log included.
  public let byteLimit: Int

  /// How long originals are kept and believed.
  public let lifetime: Lifetime

  /// When the files may be read on a locked device; effective on Apple platforms.
  public let protection: ImageFormat.Protection

  let listeners = OriginalListeners()
  let system: SystemCalls
  /// Microseconds since 1970.
  let now: @Sendable () -> Int64
  /// The database's file.
  let file: String

  // Invariants:
  // 1. The folder takes at most `byteLimit`: a row reserves a body's bytes before the first of them is written,
  //    and victims are unlinked before that row is committed.
  // 2. A row without its file is a miss, and so is a body of another checksum. A file without a row is deleted
  //    inside of a transaction, which excludes all writers, and its name is never used again.
  // 3. From the return of `hold` on a lookup finds the original, before a byte is written.
  // 4. What was removed does not come back: a removal forbids the loads that began before it, and the refreshes that
  //    their answers have caused.
  // 5. The writing connection is used on `queue` only. A reading one is out of `state` while it is used. So no
  //    lock is held through a system call.
  // 6. No file is open while the store is suspended, and a child of fork(2) touches none. A suspension waits for
  //    the `readings` that are under way.
  // 7. What a newer answer has superseded answers no more, whether its drop can be written or not: `superseded` is
  //    changed before `hold`, `drop` and `note` return, and takes a name back only once the database has no body that it rules
  //    out. A placeholder supersedes no real one; a confirmation that cannot be written counts where it is stricter.
  let state = Lock(State())
  let queue = DispatchQueue(label: "FastImageCache.originals", qos: .userInitiated)
  let writer = OriginalWriter()
  let readings = DispatchGroup()
  /// Two, so that a large original does not hold up a small one.
  let readers = WorkerPool(name: "FastImageCache.originals", width: 2)

  /// A store that opens its folder at the first miss.
  ///
  /// - Parameters:
  ///   - directory: By default `<program>/Originals` in the user's caches folder, where
  ///     ``ImageCache/Configuration/directory`` says which program is meant.
  ///   - byteLimit: 256 MiB by default. One original takes at most a quarter; with less than some 200 KiB
  ///     none is kept. A lower limit than before holds from the first write on.
  ///   - lifetime: How long originals are kept and believed.
  ///   - protection: When the files may be read on a locked device.
  public convenience init(
    directory: URL? = nil, byteLimit: Int = 256 << 20, lifetime: Lifetime = Lifetime(),
    protection: ImageFormat.Protection = .untilFirstUnlock
  ) {
    self.init(directory, byteLimit, lifetime, protection, system: .live) {
      Int64(Date().timeIntervalSince1970 * 1_000_000)
    }
  }

  /// Lets tests put a clock and calls of their own in place of the system's.
  package init(
    _ directory: URL?, _ byteLimit: Int, _ lifetime: Lifetime = Lifetime(),
    _ protection: ImageFormat.Protection = .untilFirstUnlock, system: SystemCalls,
    now: @escaping @Sendable () -> Int64
  ) {
    self.directory =
      directory ?? ProgramFolder.url.appendingPathComponent("Originals", isDirectory: true)
    (self.byteLimit, self.lifetime, self.protection) = (max(0, byteLimit), lifetime, protection)
    (self.system, self.now) = (system, now)
    file = Self.file(in: self.directory)
  }

  deinit {
    // No job is on the queue: each retains the store. A failed write loses the order of use only.
    guard !isInherited, let database = writer.database else { return }
    try? write(uses: state.withLock { $0.uses }, database)
  }

  static func file(in directory: URL) -> String {
    directory.appendingPathComponent("originals.sqlite").path
  }
}

/// The caches that hear of a store's events and removals.
final class OriginalListeners: Sendable {
  private struct Listener {
    weak var recorder: CacheRecorder?
    weak var partials: PartialDownloads?
  }

  private let caches = Lock<[Listener]>([])

  /// Tells a cache of events and removals, for as long as it lives.
  func add(_ recorder: CacheRecorder, _ partials: PartialDownloads) {
    caches.withLock { caches in
      caches.removeAll { $0.recorder == nil || $0.recorder === recorder }
      caches.append(Listener(recorder: recorder, partials: partials))
    }
  }

  func send(_ id: ImageID?, _ event: OriginalEvent) {
    for recorder in caches.withLock({ $0.compactMap(\.recorder) }) {
      recorder.send(.original(id, event))
    }
  }

  func forget(_ removal: OriginalRemoval) {
    for partials in caches.withLock({ $0.compactMap(\.partials) }) { partials.remove(removal) }
  }
}
