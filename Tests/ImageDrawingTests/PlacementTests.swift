import Pixels
import Testing

@testable import ImageDrawing

@Suite("A placement", .timeLimit(.minutes(10)))
struct PlacementTests {
  private let wide = PixelSize(width: 400, height: 200)
  private let square = PixelSize(width: 100, height: 100)

  private func placement(
    _ scaling: Drawing.Scaling, _ alignment: Drawing.Alignment = .center,
    crop: Canvas.Rect? = nil, of source: PixelSize, in output: PixelSize
  ) -> Placement {
    Placement(
      Drawing.Recipe(scaling: scaling, alignment: alignment, crop: crop), source: source,
      output: output)
  }

  @Test(
    "that fills cuts off what protrudes where its alignment says",
    arguments: [
      (Drawing.Alignment.left, 0.0, 100.0), (.center, 100, 100), (.right, 200, 100),
      (.topRight, 200, 0), (.bottomLeft, 0, 200), (Drawing.Alignment(x: 0.25, y: 0.5), 50, 100),
      (Drawing.Alignment(x: 7, y: 0), 200, 0), (.top, 100, 0), (.bottom, 100, 200),
    ])
  func fills(alignment: Drawing.Alignment, left: Double, top: Double) {
    let placement = placement(.aspectFill, alignment, of: wide, in: square)
    #expect(placement.source == Canvas.Rect(x: left, y: 0, width: 200, height: 200))
    #expect(placement.destination == ImageRegion(columns: 0..<100, rows: 0..<100))
    let tall = self.placement(.aspectFill, alignment, of: wide.transposed, in: square)
    #expect(tall.source == Canvas.Rect(x: 0, y: top, width: 200, height: 200))
  }

  @Test(
    "that fits leaves room where its alignment says, and shows a line of the flattest image and a column of the thinnest",
    arguments: [
      (Drawing.Alignment.top, 0, 25), (.center, 25, 25), (.bottom, 50, 25), (.topLeft, 0, 0),
      (.bottomRight, 50, 50), (.right, 25, 50),
    ])
  func fits(alignment: Drawing.Alignment, top: Int, left: Int) {
    let placement = placement(.aspectFit, alignment, of: wide, in: square)
    #expect(placement.source == Canvas.Rect(x: 0, y: 0, width: 400, height: 200))
    #expect(placement.destination == ImageRegion(columns: 0..<100, rows: top..<top + 50))
    let tall = self.placement(.aspectFit, alignment, of: wide.transposed, in: square)
    #expect(tall.destination == ImageRegion(columns: left..<left + 50, rows: 0..<100))
    let line = PixelSize(width: 10_000, height: 1)
    #expect(self.placement(.aspectFit, alignment, of: line, in: square).destination.rows.count == 1)
    let column = self.placement(.aspectFit, alignment, of: line.transposed, in: square)
    #expect(column.destination.columns.count == 1)
  }

  @Test("is put into the pixels of a bitmap by the image's edges there")
  func followsEdges() {
    let edges = ImageEdges(x: 0.5, y: 0, width: 200, height: 99.75, fullSize: wide)
    let part = Canvas.Rect(x: 100, y: 0, width: 300, height: 100)
    #expect(
      edges.pixels(showing: part) == Canvas.Rect(x: 50.5, y: 0, width: 150, height: 49.875))
  }

  @Test("that stretches uses everything for everything")
  func stretches() {
    let placement = placement(.stretch, .left, of: wide, in: square)
    #expect(placement.source == Canvas.Rect(x: 0, y: 0, width: 400, height: 200))
    #expect(placement.destination == ImageRegion(columns: 0..<100, rows: 0..<100))
  }

  @Test("works within a crop, or what of it lies in the image")
  func crops() {
    let right = Canvas.Rect(x: 0.5, y: 0, width: 0.5, height: 1)
    let beyond = Canvas.Rect(x: 0.5, y: -1, width: 7, height: 3)
    for crop in [right, beyond] {
      let stretched = placement(.stretch, crop: crop, of: wide, in: square)
      let filled = placement(.aspectFill, crop: crop, of: wide, in: wide)
      #expect(stretched.source == Canvas.Rect(x: 200, y: 0, width: 200, height: 200))
      #expect(filled.source == Canvas.Rect(x: 200, y: 50, width: 200, height: 100))
    }
  }

  @Test(
    "takes a crop without any of the image for none",
    arguments: [
      Canvas.Rect(x: 2, y: 0, width: 1, height: 1), Canvas.Rect(x: 0, y: 0, width: 0, height: 1),
      Canvas.Rect(x: .nan, y: 0, width: 1, height: 1),
      Canvas.Rect(x: 0, y: 0, width: -1, height: 1),
    ])
  func ignoresEmptyCrops(crop: Canvas.Rect) {
    let placement = placement(.stretch, crop: crop, of: wide, in: square)
    #expect(placement.source == Canvas.Rect(x: 0, y: 0, width: 400, height: 200))
  }
}

@Suite("The size of a drawing", .timeLimit(.minutes(10)))
struct DrawingSizeTests {
  private let slot = PixelSize(width: 200, height: 150)

  private static let drawings: [Drawing] = [
    .aspectFill, .aspectFit, .stretch, .custom { _, _ in },
  ]

  @Test(
    "keeps the image's proportions in an up-to format, without enlarging; else it is the slot's",
    arguments: [
      ((4000, 3000), (200, 150)), ((3000, 4000), (113, 150)), ((4000, 1000), (200, 50)),
      ((120, 90), (120, 90)), ((120, 200), (90, 150)), ((200, 150), (200, 150)),
      ((10_000, 3), (200, 1)), ((1, 10_000), (1, 150)), ((1, 1), (1, 1)),
    ] as [((Int, Int), (Int, Int))])
  func upTo(source: (Int, Int), expected: (Int, Int)) {
    for drawing in Self.drawings {
      let source = PixelSize(width: source.0, height: source.1)
      let size = drawing.outputSize(source: source, slot: slot, upTo: true)
      #expect(size == PixelSize(width: expected.0, height: expected.1))
      #expect(drawing.outputSize(source: source, slot: slot, upTo: false) == slot)
    }
  }

  @Test("is that of the crop in an up-to format")
  func upToCrop() {
    let crop = Canvas.Rect(x: 0.25, y: 0, width: 0.25, height: 1)
    let drawing = Drawing.aspectFill(crop: crop)
    let large = drawing.outputSize(
      source: PixelSize(width: 4000, height: 3000), slot: slot, upTo: true)
    let small = drawing.outputSize(
      source: PixelSize(width: 102, height: 90), slot: slot, upTo: true)
    #expect(large == PixelSize(width: 50, height: 150))
    #expect(small == PixelSize(width: 25, height: 90))
  }

  @Test(
    "needs as many source pixels as it shows, and never more than there are",
    arguments: [
      (Drawing.aspectFill, (400, 300)), (.aspectFit, (200, 150)), (.stretch, (200, 300)),
      (.custom { _, _ in }, (400, 300)),
      (.aspectFill(crop: Canvas.Rect(x: 0, y: 0, width: 0.5, height: 1)), (400, 300)),
      (.stretch(crop: Canvas.Rect(x: 0, y: 0, width: 0.01, height: 0.01)), (4000, 3000)),
    ] as [(Drawing, (Int, Int))])
  func minimumSource(drawing: Drawing, expected: (Int, Int)) {
    let size = drawing.minimumSourceSize(
      source: PixelSize(width: 4000, height: 3000), slot: PixelSize(width: 200, height: 300),
      upTo: false)
    #expect(size == PixelSize(width: expected.0, height: expected.1))
  }

  @Test(
    "reads whole pixels of the source, those that it cuts through included",
    arguments: [
      (Drawing.aspectFill, PixelSize(width: 1000, height: 300), (350..<650, 0..<300)),
      (.aspectFill, PixelSize(width: 1001, height: 300), (350..<651, 0..<300)),
      (.aspectFill, PixelSize(width: 300, height: 1001), (0..<300, 350..<651)),
      (.aspectFill(alignment: .right), PixelSize(width: 1001, height: 300), (701..<1001, 0..<300)),
      (.aspectFit, PixelSize(width: 1001, height: 300), (0..<1001, 0..<300)),
      (
        .stretch(crop: Canvas.Rect(x: 0.25, y: 0.5, width: 0.5, height: 0.25)),
        PixelSize(width: 998, height: 300), (249..<749, 150..<225)
      ),
      // A closure may draw any of them.
      (.custom { _, _ in }, PixelSize(width: 1000, height: 300), (0..<1000, 0..<300)),
    ] as [(Drawing, PixelSize, (Range<Int>, Range<Int>))])
  func sourceRegion(drawing: Drawing, source: PixelSize, expected: (Range<Int>, Range<Int>)) {
    let region = drawing.sourceRegion(
      source: source, slot: PixelSize(width: 100, height: 100), upTo: false)
    #expect(region == ImageRegion(columns: expected.0, rows: expected.1))
  }

  @Test(
    "is covered by an image that has a pixel for each that is shown of it",
    arguments: [
      (Drawing.stretch, 100, 100, false, true), (.stretch, 99, 100, false, false),
      (.aspectFill, 400, 100, false, true), (.aspectFill, 400, 99, false, false),
      (.aspectFit, 100, 50, false, true), (.aspectFit, 99, 99, false, false),
      (.aspectFit, 100, 7, true, true), (.aspectFit, 99, 99, true, false),
      (.stretch, 0, 0, false, false),
    ])
  func isCovered(drawing: Drawing, width: Int, height: Int, upTo: Bool, isCovered: Bool) {
    let source = PixelSize(width: width, height: height)
    #expect(
      drawing.isCovered(by: source, slot: PixelSize(width: 100, height: 100), upTo: upTo)
        == isCovered)
  }

  @Test("needs no more than a small source, and than the image's own proportions up to a size")
  func minimumSourceOfSmallImages() {
    let small = PixelSize(width: 20, height: 30)
    for drawing in Self.drawings {
      #expect(drawing.minimumSourceSize(source: small, slot: slot, upTo: false) == small)
    }
    let size = Drawing.aspectFill.minimumSourceSize(
      source: PixelSize(width: 3000, height: 1001), slot: slot, upTo: true)
    #expect(size == PixelSize(width: 200, height: 67))
  }
}
