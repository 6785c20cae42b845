package import OriginalStore

/// Bytes of disk that the stores of originals which hold it share.
///
/// ```swift
/// let budget = StorageBudget(byteCount: 512 << 20)
/// let photos = SourceStore(name: "photos", budget: budget)
/// let avatars = SourceStore(name: "avatars", budget: budget)
/// ```
///
/// Of all originals in these stores the least recently used goes first. Room is made before a byte is
/// written, so that the stores never take more, the file that is being written and their indexes
/// included; each file counts with its bytes rounded up to 4 KiB. The stores write one at a time.
public final class StorageBudget: Sendable {
  package let shared: OriginalBudget

  /// Creates a budget.
  ///
  /// - Parameter byteCount: The most bytes that all stores take together; with 0 they keep nothing.
  public init(byteCount: Int) { shared = OriginalBudget(byteCount: byteCount) }

  /// The most bytes that all stores take together.
  ///
  /// One original takes at most a quarter of it; a larger one is not kept. A lower number blocks the
  /// thread until originals beyond it are deleted, also in stores that were not opened yet. A store
  /// that is suspended, or whose folder another process owns, is trimmed before it writes again.
  public var byteCount: Int {
    get { shared.byteCount }
    set { shared.setByteCount(newValue) }
  }

  /// The bytes that the stores which are open take now.
  public var usedByteCount: Int { shared.usedByteCount }
}
