import CommandSupport
import FastImageCache

/// The list to scroll, and its images.
struct ScrollPlan {
  let size: PixelSize
  let pixelFormat: PixelFormat
  let geometry: ScrollGeometry

  var format: ImageFormat {
    ImageFormat(
      name: "cell", size: .exact(size), pixelFormat: pixelFormat,
      capacity: .count(geometry.cellCount))
  }

  /// One cell for each place of the list: the photographs in turn, and from the second turn on other
  /// parts of them.
  func cells(showing photos: [PhotoFolder.Photo]) -> [ScrollCell] {
    (0..<geometry.cellCount).map {
      ScrollCell(photo: photos[$0 % photos.count], turn: $0 / photos.count)
    }
  }
}
