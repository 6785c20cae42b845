import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A search for the closest image", .timeLimit(.minutes(10)))
struct VariantSearchTests {
  private func square(_ side: Int, family: String? = "f") -> ImageFormat {
    ImageFormat(name: "\(side)", family: family, size: .exact(PixelSize(width: side, height: side)))
  }

  private func upTo(_ side: Int) -> ImageFormat {
    ImageFormat(
      name: "up to \(side)", family: "f", size: .fitting(PixelSize(width: side, height: side)))
  }

  private func size(_ width: Int, _ height: Int) -> PixelSize {
    PixelSize(width: width, height: height)
  }

  @Test("looks into the wanted format, larger siblings from the smallest on, and smaller ones")
  func orders() {
    let formats = [800, 100, 300, 49, 150, 50, 200].map { square($0) } + [square(201, family: "g")]
    let search = VariantSearch(wanted: square(200), policy: FallbackPolicy())
    #expect(
      search.formats(among: formats).map(\.name) == ["200", "300", "800", "150", "100", "50"])
    let all = VariantSearch(wanted: square(200), policy: FallbackPolicy(smallestScale: 0))
    #expect(all.formats(among: formats).map(\.name).last == "49")
    let same = ImageFormat(name: "same", family: "f", size: .exact(size(200, 200)))
    #expect(
      search.formats(among: [square(300), same]).map(\.name) == ["200", "same", "300"])
    for flat in [size(200, 40), size(40, 200)] {
      let format = ImageFormat(name: "flat", family: "f", size: .exact(flat))
      #expect(search.formats(among: [format]).map(\.name) == ["200"])
    }
    let large = VariantSearch(wanted: square(200), policy: FallbackPolicy(smallestScale: 2))
    #expect(large.formats(among: formats).map(\.name) == ["200", "300", "800"])
    for search in [
      VariantSearch(wanted: square(200), policy: .none),
      VariantSearch(wanted: square(200, family: nil), policy: FallbackPolicy()),
    ] {
      #expect(search.formats(among: formats).map(\.name) == ["200"])
    }
  }

  @Test(
    "takes a sibling of the same proportions only, up to 2 % and the rounding of a pixel",
    arguments: [
      (400, 300, true), (404, 300, true), (410, 300, false), (400, 292, false), (40, 30, true),
      (40, 31, true), (40, 32, false), (4, 3, false),
    ])
  func comparesProportions(width: Int, height: Int, isTaken: Bool) {
    let wanted = ImageFormat(name: "w", family: "f", size: .exact(size(160, 120)))
    let strict = VariantSearch(wanted: wanted, policy: FallbackPolicy())
    #expect((strict.preview(.current, size(width, height), in: upTo(500)) != nil) == isTaken)
    var policy = FallbackPolicy(smallestScale: 0)
    policy.allowsOtherProportions = true
    let loose = VariantSearch(wanted: wanted, policy: policy)
    #expect(loose.preview(.current, size(width, height), in: upTo(500)) != nil)
  }

  @Test("takes images of their own proportions for each other, however small")
  func comparesOwnProportions() {
    let search = VariantSearch(wanted: upTo(100), policy: FallbackPolicy())
    #expect(search.preview(.current, size(3, 9), in: upTo(50)) != nil)
    #expect(search.preview(.current, size(100, 100), in: square(100)) == nil)
    var policy = FallbackPolicy()
    policy.allowsOtherProportions = true
    let loose = VariantSearch(wanted: upTo(100), policy: policy)
    #expect(loose.preview(.current, size(100, 100), in: square(100)) != nil)
  }

  @Test("calls the wanted image settled, and another one by its kind")
  func namesKinds() {
    let (wanted, sibling) = (square(100), square(200))
    var policy = FallbackPolicy()
    let strict = VariantSearch(wanted: wanted, policy: policy)
    policy.allowsOtherVersions = true
    let loose = VariantSearch(wanted: wanted, policy: policy)
    let none = VariantSearch(wanted: wanted, policy: .none)
    for search in [strict, loose, none] {
      #expect(
        search.preview(.current, wanted.size, in: wanted)
          == ImagePreview(kind: .variant(wanted), isSettled: true))
    }
    for search in [strict, loose] {
      #expect(
        search.preview(.current, sibling.size, in: sibling)
          == ImagePreview(kind: .variant(sibling), isSettled: false))
    }
    #expect(none.preview(.current, sibling.size, in: sibling) == nil)
    for format in [wanted, sibling] {
      #expect(none.preview(.stale, format.size, in: format) == nil)
      for search in [strict, loose] {
        #expect(
          search.preview(.stale, format.size, in: format)
            == ImagePreview(kind: .stale, isSettled: false))
      }
      #expect(strict.preview(.otherVersion, format.size, in: format) == nil)
      #expect(
        loose.preview(.otherVersion, format.size, in: format)
          == ImagePreview(kind: .stale, isSettled: false))
    }
  }
}
