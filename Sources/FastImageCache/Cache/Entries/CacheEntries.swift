import LoadQueue
import TableStore

/// The stored images of a cache, read from its tables as they are asked for.
///
/// ```swift
/// for try await entry in cache.entries(in: .row) { print(entry.imageID ?? "?", entry.size) }
/// ```
///
/// Not a snapshot: see ``ImageCache/entries(in:)``. Each loop begins anew.
public struct CacheEntries: AsyncSequence, Sendable {
  public typealias Element = CacheEntry
  public typealias Failure = ImageCacheError

  let tables: Result<[ImageTable], ImageCacheError>
  let workers: WorkerPool

  /// Begins a listing.
  public func makeAsyncIterator() -> Iterator { Iterator(tables: tables, workers: workers) }

  /// The place of one loop in the tables.
  public struct Iterator: AsyncIteratorProtocol {
    public typealias Failure = ImageCacheError

    private var tables: Result<ArraySlice<ImageTable>, ImageCacheError>
    private let workers: WorkerPool
    private var cursor = ListingCursor()
    private var unread: ArraySlice<CacheEntry> = []

    init(tables: Result<[ImageTable], ImageCacheError>, workers: WorkerPool) {
      self.tables = tables.map { $0[...] }
      self.workers = workers
    }

    /// The next entry; `nil` after the last.
    ///
    /// - Throws: ``ImageCacheError/unknownFormat(_:)``, ``ImageCacheError/protectedDataUnavailable(format:)``,
    ///   ``ImageCacheError/storageUnavailable(_:)``, ``ImageCacheError/closed``, and
    ///   ``ImageCacheError/cancelled`` when the reading task is cancelled. The listing is over then.
    public mutating func next() async throws(ImageCacheError) -> CacheEntry? {
      if unread.isEmpty {
        guard let part = try await nextPart() else { return nil }
        unread = part.entries[...]
      }
      guard !Task.isCancelled else {
        (tables, unread) = (.success([]), [])
        throw .cancelled
      }
      return unread.popFirst()
    }

    /// The entries that one read found, and their table; `nil` after the last.
    mutating func nextPart() async throws(ImageCacheError) -> (
      table: ImageTable, entries: [CacheEntry]
    )? {
      do throws(ImageCacheError) {
        while let table = try tables.get().first {
          let (entries, next) = try await read(table)
          cursor = next
          if !entries.isEmpty { return (table, entries) }
          tables = tables.map { $0.dropFirst() }
          cursor = ListingCursor()
        }
        return nil
      } catch {
        tables = .success([])
        throw error
      }
    }

    /// On a worker, since it waits for the disk.
    private func read(
      _ table: ImageTable
    ) async throws(ImageCacheError) -> (entries: [CacheEntry], next: ListingCursor) {
      do throws(JobError<ImageCacheError>) {
        return try await workers.run(priority: .current) { [cursor] _ throws(ImageCacheError) in
          var cursor = cursor
          return (try table.entries(from: &cursor), cursor)
        }
      } catch {
        throw ImageCacheError(error) { $0 }
      }
    }
  }
}
