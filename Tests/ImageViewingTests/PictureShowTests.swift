import Testing

@testable import ImageViewing

/// A wish without a cache: an entity, and a version of its picture.
private struct Wanted: PictureWish {
  let entity: Int
  let version: Int
  func isOfSamePicture(as other: Wanted) -> Bool { entity == other.entity }
}
