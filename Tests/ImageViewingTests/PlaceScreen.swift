import FastImageCache

@testable import ImageViewing

/// What a place showed, in order, and the image that it shows.
@MainActor final class PlaceScreen {
  enum Sight: Equatable {
    case nothing, placeholder, preview, failure
    case image(isLate: Bool)
  }

  private(set) var sights: [Sight] = []
  private(set) var image: CachedImage?
  private let (late, shown) = AsyncStream<Void>.makeStream()

  func makePlace() -> ImagePlace {
    ImagePlace(
      deliver: { job in Task { @MainActor in job() } }, show: { [weak self] in self?.show($0) })
  }

  /// Waits until that many sights were shown.
  func hasShown(_ count: Int) async {
    if sights.count >= count { return }
    for await _ in late where sights.count >= count { return }
  }

  /// Waits until this is shown.
  func hasShown(_ sight: Sight) async {
    if sights.last == sight { return }
    for await _ in late where sights.last == sight { return }
  }

  private func show(_ sight: ImagePlace.Sight) {
    defer { shown.yield() }
    image = nil
    switch sight {
    case .nothing: sights.append(.nothing)
    case .placeholder: sights.append(.placeholder)
    case .preview(let image): (self.image, _) = (image, sights.append(.preview))
    case .image(let image, let isLate):
      (self.image, _) = (image, sights.append(.image(isLate: isLate)))
    case .failure: sights.append(.failure)
    }
  }
}

nonisolated extension ImageFormat {
  static let cell = ImageFormat(
    name: "cell", family: "family", size: .exact(PixelSize(width: 8, height: 8)),
    pixelFormat: .bgrx32, capacity: 8)
  static let page = ImageFormat(
    name: "page", family: "family", size: .exact(PixelSize(width: 16, height: 16)), capacity: 8)
}
