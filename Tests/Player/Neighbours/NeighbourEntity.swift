import FastImageCache
import Foundation

/// An image that only neighbours ask for, of a subject whose server never fails.
struct NeighbourEntity: ImageEntity, CustomStringConvertible {
  let number: Int
  let subject: Subject
  let world: World

  var imageID: ImageID { ImageID("neighbour \(number)") }

  func sourceURL(for format: ImageFormat) -> URL? {
    subject.scheme == .play
      ? URL(string: "play:/\(subject.number)?neighbour=\(number)")
      : world.address("/\(subject.number + 1_000)?neighbour=\(number)")
  }

  var description: String { "a neighbour's image \(number) of \(subject.number)" }
}
