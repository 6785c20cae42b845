import FastImageCache
import ImageViewing
import Testing

@Suite("A view of some size")
struct FormatChoiceTests {
  private static func format(
    _ name: String, _ width: Int, _ height: Int, family: String? = "photos", fits: Bool = false
  ) -> ImageFormat {
    let size = PixelSize(width: width, height: height)
    return ImageFormat(name: name, family: family, size: fits ? .fitting(size) : .exact(size))
  }

  private static let formats = [
    format("page", 1200, 1200, fits: true), format("row", 200, 200), format("tile", 90, 60),
    format("icon", 40, 40, family: nil), format("avatar", 120, 120, family: "people"),
  ]

  private func name(
    _ family: String?, _ width: Double, _ height: Double, scale: Double = 1, covers: Bool = false
  ) -> String? {
    FormatChoice(family: family, covers: covers)
      .format(among: Self.formats, width: width, height: height, scale: scale)?.name
  }

  @Test("is covered by the smallest format whose sides both suffice")
  func isCovered() {
    #expect(name("photos", 90, 60, covers: true) == "tile")
    #expect(name("photos", 90, 61, covers: true) == "row")
    #expect(name("photos", 91, 10, covers: true) == "row")
    #expect(name("photos", 200, 200, covers: true) == "row")
    #expect(name("photos", 201, 1, covers: true) == "page")
  }

  @Test("fits an image of an exact format as soon as one side suffices")
  func fits() {
    #expect(name("photos", 300, 60) == "tile")
    #expect(name("photos", 300, 200) == "row")
    #expect(name("photos", 201, 201) == "page")
    let fitting = [Self.format("small", 100, 100, fits: true), Self.format("large", 300, 300)]
    let choice = FormatChoice()
    #expect(
      choice.format(among: fitting, width: 200, height: 100, scale: 1)?.name == "large")
    #expect(
      choice.format(among: fitting, width: 100, height: 100, scale: 1)?.name == "small")
  }

  @Test("counts in pixels of its screen, to the nearest")
  func countsPixels() {
    #expect(name("photos", 45, 30, scale: 2, covers: true) == "tile")
    #expect(name("photos", 45.3, 30, scale: 2, covers: true) == "row")
    #expect(name("photos", 66.7, 66.7, scale: 3, covers: true) == "row")
    #expect(name("photos", 66.9, 66.9, scale: 3, covers: true) == "page")
  }

  @Test("has the largest format of its family where none suffices")
  func hasLargest() {
    #expect(name("photos", 5000, 5000) == "page")
    #expect(name("people", 5000, 5000) == "avatar")
    #expect(FormatChoice.largest(of: Self.formats)?.name == "page")
    #expect(FormatChoice.largest(of: []) == nil)
  }

  @Test("chooses among all formats where no family is named, and the first of equal ones")
  func choosesAmongAll() {
    #expect(name(nil, 10, 10) == "icon")
    #expect(name(nil, 100, 100, covers: true) == "avatar")
    let equals = [Self.format("a", 20, 20), Self.format("b", 20, 20)]
    #expect(FormatChoice().format(among: equals, width: 1, height: 1, scale: 1)?.name == "a")
    #expect(FormatChoice.largest(of: equals)?.name == "a")
  }

  @Test("without area, or of a family that the cache does not have, shows nothing")
  func showsNothing() {
    #expect(name("photos", 0, 10) == nil)
    #expect(name("photos", 10, -1) == nil)
    #expect(name("films", 10, 10) == nil)
  }
}
