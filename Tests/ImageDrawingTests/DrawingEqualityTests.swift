import Testing

@testable import ImageDrawing

@Suite("Two drawings", .timeLimit(.minutes(10)))
struct DrawingEqualityTests {
  @Test("are equal where their recipes are")
  func comparesRecipes() {
    let face = Drawing.aspectFill(alignment: .top, corners: .ellipse)
    #expect(face == .aspectFill(alignment: .top, corners: .ellipse))
    #expect(face != .aspectFill(alignment: .top) && face != .aspectFill && face != .stretch)
    #expect(Drawing.aspectFill() == .aspectFill && Drawing.aspectFit != .stretch)
    #expect(Set([face, .aspectFill, .aspectFill(), .stretch]).count == 3)
  }

  @Test("of closures are equal where one is a copy of the other")
  func tellsClosuresApart() {
    func make() -> Drawing { .custom { _, canvas in canvas.fill(.red) } }
    let first = make()
    let copy = first
    #expect(first == copy && first.hashValue == copy.hashValue)
    #expect(first != make() && first != .aspectFill)
  }
}
