import FastImageCache
import Foundation

extension Step {
  /// What a program's own code draws.
  static let drawings: [Step] = [
    Step(
      "drawing",
      [
        "Drawing.custom(_:)", "Drawing.filtered(_:)",
        "Drawing.aspectFill(alignment:background:corners:crop:)",
        "Drawing.aspectFit(alignment:background:corners:crop:)",
        "Drawing.stretch(background:corners:crop:)", "ImageEntity.drawing(for:)",
      ], need: .cache
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: 0)
      let custom = Drawing.custom { bitmap, canvas in try canvas.draw(bitmap, in: canvas.bounds) }
      let drawing = turn.pick([
        hasCanvas ? custom : .aspectFill,
        .stretch(background: .white), .aspectFit(background: .black), .aspectFill(alignment: .top),
        // Twice mirrored is as before.
        Drawing.stretch.filtered([.flip(.horizontal), .flip(.horizontal)]),
      ])
      let entity = DrawnEntity(imageID: ImageID("drawn \(turn.number)"), drawing: drawing)
      let image = try await turn.call("a store with a drawing") {
        try await turn.cache.store(try mark.bitmap(), for: entity, format: turn.format)
      }
      turn.expect(Mark(image) == mark, .wrongPicture, "\(mark), drawn by \(drawing)")
    },

    Step(
      "canvas",
      [
        "Bitmap.init(size:scale:colorSpace:drawing:)", "Canvas.withSavedState(_:)",
        "Canvas.translate(x:y:)", "Canvas.scale(x:y:)", "Canvas.rotate(degrees:)",
        "Canvas.clip(to:)", "Canvas.clear(_:)", "Canvas.clear()", "Canvas.fill(_:blendMode:)",
        "Canvas.fill(_:with:blendMode:)", "Canvas.stroke(_:with:lineWidth:blendMode:)",
        "Canvas.draw(_:in:scaling:alignment:opacity:blendMode:interpolation:)",
      ], need: .cache
    ) { turn in
      guard hasCanvas else { return turn.nothing() }
      let (_, mark, image) = try await turn.storeFresh()
      let bitmap = try image.makeBitmap()
      let drawn = try Bitmap(size: PixelSize(width: 64, height: 64), scale: 2) { canvas in
        let bounds = canvas.bounds
        canvas.fill(.white)
        canvas.clear(Canvas.Rect(x: 0, y: 0, width: 8, height: 8))
        canvas.fill(.rect(bounds), with: .black)
        canvas.stroke(.ellipse(in: bounds), with: .white, lineWidth: 3)
        canvas.clear()
        // What is done to a saved state is over afterwards.
        canvas.withSavedState { canvas in
          canvas.translate(x: 5, y: 9)
          canvas.rotate(degrees: 33)
          canvas.scale(x: 3, y: 2)
          canvas.clip(to: Canvas.Rect(x: 1, y: 1, width: 2, height: 2))
          canvas.fill(bounds, with: .black)
        }
        // A turn by two right angles brings the picture back.
        canvas.translate(x: bounds.width, y: bounds.height)
        canvas.rotate(degrees: 180)
        canvas.translate(x: bounds.width, y: bounds.height)
        canvas.rotate(degrees: 180)
        canvas.clip(to: .rect(bounds))
        if turn.chance(1, in: 2) {
          try canvas.draw(image, in: bounds)
        } else {
          try canvas.draw(bitmap, in: bounds)
        }
      }
      turn.expect(Mark(drawn) == mark, .wrongPicture, "\(mark) on a canvas")
      turn.expect(drawn.size == PixelSize(width: 64, height: 64), "\(drawn.size)")
    },
  ]
}

/// An entity that only its drawing tells from others.
private struct DrawnEntity: ImageEntity {
  let imageID: ImageID
  let drawing: Drawing

  func sourceURL(for format: ImageFormat) -> URL? { nil }
  func drawing(for format: ImageFormat) -> Drawing { drawing }
}

/// Whether closures can draw in this build: by the trait Cairo.
private let hasCanvas =
  (try? Bitmap(size: PixelSize(width: 1, height: 1)) { $0.fill(.black) }) != nil
