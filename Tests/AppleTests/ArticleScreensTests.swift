import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import SwiftUI
import Testing
import UIKit

/// The screens that the articles on SwiftUI and UIKit have, run.
@MainActor @Suite("A screen of the articles", .serialized, .timeLimit(.minutes(10)))
struct ArticleScreensTests {
  private let fixture: ViewFixture
  init() throws { fixture = try ViewFixture() }

  /// Another suite may have the user save data just now, and then nothing is brought ahead.
  private func dataIsFree() async throws { try await waits { !ImagePlace.savesData } }

  @Test("as an app shows a stack of rows with their names")
  func showsApp() {
    PhotographsApp.fixture = fixture
    let screen = Screen()
    screen.draw(app: PhotographsApp())
    #expect(screen.items.map(\.label) == ["Photograph", "0.jpg", "Photograph", "1.jpg"])
    #expect(screen.items.first?.size == CGSize(width: 20, height: 10))
  }

  @Test("as a controller shows its cells, brings the next ones, and gives up those that leave")
  func showsController() async throws {
    let controller = PhotosController(fixture)
    controller.loadViewIfNeeded()
    let view = try #require(controller.collectionView)
    let cell = try #require(view._show(IndexPath(item: 0, section: 0)) as? PhotoCell)
    #expect(fixture.isImage(0, cell.image.image?.cgImage))
    // Brought ahead, and then a hit.
    let prefetching = try #require(view.prefetchDataSource)
    try await dataIsFree()
    prefetching.collectionView(view, prefetchItemsAt: [IndexPath(item: 2, section: 0)])
    try await waits { fixture.contains(2) }
    let next = try #require(view._show(IndexPath(item: 2, section: 0)) as? PhotoCell)
    #expect(fixture.isImage(2, next.image.image?.cgImage))
    // Given up.
    fixture.source.holdLoads()
    try await dataIsFree()
    prefetching.collectionView(view, prefetchItemsAt: [IndexPath(item: 3, section: 0)])
    try await fixture.source.hasBegunLoads(of: ViewFixture.photo(3))
    prefetching.collectionView(view, cancelPrefetchingForItemsAt: [IndexPath(item: 3, section: 0)])
    try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(3))
    // A cell that leaves lets its image go, and is used again.
    view._hide(IndexPath(item: 0, section: 0))
    #expect(cell.image.image == nil)
    let reused = try #require(view._show(IndexPath(item: 1, section: 0)) as? PhotoCell)
    #expect(reused === cell && fixture.isImage(1, cell.image.image?.cgImage))
  }

  @Test("with a table brings rows ahead, too, by the entity that was there then")
  func prefetchesRows() async throws {
    var number = 4
    let prefetcher = ImagePrefetcher(fixture.cache, format: fixture.format) { path in
      path.row == 0 ? ViewFixture.photo(number) : nil
    }
    let table = UITableView(frame: .zero)
    table.prefetchDataSource = prefetcher
    fixture.source.holdLoads()
    let paths = [IndexPath(row: 0, section: 0), IndexPath(row: 1, section: 0)]
    try await dataIsFree()
    table.prefetchDataSource?.tableView(table, prefetchRowsAt: paths)
    try await fixture.source.hasBegunLoads(of: ViewFixture.photo(4))
    number = 5
    table.prefetchDataSource?.tableView(table, cancelPrefetchingForRowsAt: paths)
    try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(4))
    #expect(fixture.source.loadCount() == 1)
  }
}

private struct PhotographsApp: App {
  static var fixture: ViewFixture?

  var body: some Scene {
    WindowGroup {
      Photographs(files: [ViewFixture.photo(0), ViewFixture.photo(1)])
        .imageCache(Self.fixture?.cache)
    }
  }
}

private struct Photographs: View {
  let files: [URL]

  var body: some View {
    ScrollView {
      LazyVStack {
        ForEach(files, id: \.self) { file in
          HStack {
            if let format = PhotographsApp.fixture?.format {
              CachedImageView(file, format: format, label: Text("Photograph")) { Color.gray }
            }
            Text(file.lastPathComponent)
          }
        }
      }
    }
  }
}

private final class PhotosController: UICollectionViewController {
  private let fixture: ViewFixture
  private lazy var prefetcher = ImagePrefetcher(fixture.cache, format: fixture.format) {
    ViewFixture.photo($0.item)
  }

  init(_ fixture: ViewFixture) {
    self.fixture = fixture
    super.init(collectionViewLayout: UICollectionViewFlowLayout())
  }

  required init?(coder: NSCoder) { nil }

  override func viewDidLoad() {
    super.viewDidLoad()
    collectionView.register(PhotoCell.self, forCellWithReuseIdentifier: "photo")
    collectionView.prefetchDataSource = prefetcher
  }

  override func collectionView(
    _ collectionView: UICollectionView, numberOfItemsInSection section: Int
  ) -> Int { 6 }

  override func collectionView(
    _ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath
  ) -> UICollectionViewCell {
    let cell = collectionView.dequeueReusableCell(withReuseIdentifier: "photo", for: indexPath)
    (cell as? PhotoCell)?.image.setImage(
      of: ViewFixture.photo(indexPath.item), format: fixture.format, from: fixture.cache)
    return cell
  }

  override func collectionView(
    _ collectionView: UICollectionView, didEndDisplaying cell: UICollectionViewCell,
    forItemAt indexPath: IndexPath
  ) { (cell as? PhotoCell)?.image.cancelImage(.lowerPriority) }
}

private final class PhotoCell: UICollectionViewCell {
  let image = UIImageView()

  override func prepareForReuse() {
    super.prepareForReuse()
    image.cancelImage()
  }
}
