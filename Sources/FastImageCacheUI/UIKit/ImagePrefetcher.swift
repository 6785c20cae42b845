// UIKit of watchOS has no views.
#if canImport(UIKit) && !os(watchOS)
  public import FastImageCache
  public import Foundation
  import ImageViewing
  public import UIKit

  /// Brings the images of rows that a collection or table view is about to show, at low priority.
  ///
  /// ```swift
  /// import FastImageCacheUI
  /// import UIKit
  ///
  /// final class Grid: UICollectionViewController {
  ///   private lazy var prefetcher = ImagePrefetcher(cache, format: .row) { photos[$0.item] }
  ///
  ///   override func viewDidLoad() {
  ///     super.viewDidLoad()
  ///     collectionView.prefetchDataSource = prefetcher
  ///   }
  /// }
  /// ```
  ///
  /// Keep it: a list does not keep its `prefetchDataSource`. It holds a ``PrefetchWindow``, whose loads end when it is
  /// released. A row that the list cancels is given up, by the entity that was asked for, even if the list has another
  /// one there by now.
  @MainActor
  public final class ImagePrefetcher<Entity: ImageEntity>: NSObject,
    UICollectionViewDataSourcePrefetching, UITableViewDataSourcePrefetching
  {
    private let window: PrefetchWindow<Entity>
    private let entity: (IndexPath) -> Entity?
    private var items = PrefetchedItems<IndexPath, Entity> { $0.imageID == $1.imageID }

    /// Creates a prefetcher that has brought nothing yet.
    ///
    /// - Parameters:
    ///   - cache: Brings the images.
    ///   - format: One of the cache's formats; with any other nothing is brought.
    ///   - options: The conditions of each request.
    ///   - entity: Whose image is at an index path; `nil` where there is none. The prefetcher keeps the closure.
    public init(
      _ cache: ImageCache, format: ImageFormat, options: LoadOptions = LoadOptions(),
      entity: @escaping (IndexPath) -> Entity?
    ) {
      window = PrefetchWindow(cache, format: format, options: options)
      self.entity = entity
      super.init()
    }

    /// Brings the images at index paths; those that were brought before are looked for again. Brings nothing while the
    /// user saves data.
    public func prefetch(_ paths: [IndexPath]) {
      if ImagePlace.savesData { return }
      let new = paths.compactMap { path in entity(path).map { (path: path, entity: $0) } }
      window.remove(items.insert(new))
      window.insert(new.map(\.entity))
    }

    /// Gives up the images at index paths.
    public func cancel(_ paths: [IndexPath]) { window.remove(items.remove(paths)) }

    public func collectionView(
      _ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath]
    ) { prefetch(indexPaths) }

    public func collectionView(
      _ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath]
    ) { cancel(indexPaths) }

    public func tableView(_ tableView: UITableView, prefetchRowsAt indexPaths: [IndexPath]) {
      prefetch(indexPaths)
    }

    public func tableView(
      _ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath]
    ) { cancel(indexPaths) }
  }
#endif
