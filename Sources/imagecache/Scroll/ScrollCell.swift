import CommandSupport
import FastImageCache
import Foundation

/// An image in the list: a photograph, or a part of one under an id of its own.
struct ScrollCell: ImageEntity {
  let photo: PhotoFolder.Photo

  /// How often the photograph has appeared in the list before.
  let turn: Int

  /// Made once, as an app keeps the ids of its entities: making ids is no part of a frame's work.
  let imageID: ImageID

  init(photo: PhotoFolder.Photo, turn: Int) {
    self.photo = photo
    self.turn = turn
    imageID = ImageID("\(photo.path)#\(turn)")
  }

  func versionID(for format: ImageFormat) -> ImageID { imageID }

  func sourceURL(for format: ImageFormat) -> URL? { photo.url }

  func drawing(for format: ImageFormat) -> Drawing { drawing }

  /// The whole photograph the first time, then parts from a half to nine tenths of its sides that
  /// wander over it.
  var drawing: Drawing {
    guard turn > 0 else { return .aspectFill }
    let side = 0.5 + Double(turn * 7 % 5) / 10
    let x = Double(turn * 37 % 101) / 100 * (1 - side)
    let y = Double(turn * 53 % 97) / 96 * (1 - side)
    return .aspectFill(crop: Canvas.Rect(x: x, y: y, width: side, height: side))
  }
}
