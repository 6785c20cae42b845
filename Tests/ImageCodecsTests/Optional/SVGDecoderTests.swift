#if SVG && !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The SVG decoder", .timeLimit(.minutes(10)))
  struct SVGDecoderTests {
    private func svg(_ content: String, _ attributes: String = #"width="40" height="20""#) -> Data {
      Data(
        #"<svg xmlns="http://www.w3.org/2000/svg" \#(attributes)>\#(content)</svg>"#.utf8)
    }

    @Test("draws at the size that is wanted, with alpha")
    func draws() throws {
      let file = svg(
        ##"<rect width="20" height="20" fill="#f00"/><rect x="20" width="10" height="20" fill="#00f" opacity=".5"/>"##
      )
      for side in [40, 100, 333, 2048] {
        let bitmap = try decode(file, atLeast: PixelSize(width: side, height: side / 2))
        #expect(bitmap.size.width >= side && bitmap.size.width <= side + 2)
        #expect(bitmap.layout.format == .bgra32)
        let (width, y) = (bitmap.size.width, bitmap.size.height / 2)
        // The edge is as sharp at each size.
        #expect(bitmap.pixel(width / 2 - 2, y) == [0, 0, 255, 255])
        let blue = bitmap.pixel(width / 2 + 2, y)
        #expect(127...128 ~= blue[0] && blue[1...2] == [0, 0] && 127...128 ~= blue[3])
        #expect(bitmap.pixel(width - 2, y) == [0, 0, 0, 0])
      }
    }

    @Test(
      "takes the proportions of the size or of the view box, and a longer side of 2048 pixels",
      arguments: [
        (#"width="40" height="20""#, 2048, 1024), (#"viewBox="0 0 10 30""#, 683, 2048),
        (#"width="100%" height="100%" viewBox="5 5 30 10""#, 2048, 683),
        (#"width="1in" height="48px""#, 2048, 1024), (#"width="5000" height="100""#, 5000, 100),
        ("", 2048, 2048),
      ])
    func takesProportions(attributes: String, width: Int, height: Int) throws {
      let header = try ImageHeader(of: svg("", attributes))
      #expect(header.size == PixelSize(width: width, height: height))
      #expect(header.type == .svg && header.hasAlpha && header.colorSpace == .sRGB)
    }

    @Test("holds to the limits before it draws")
    func isLimited() throws {
      let file = svg("<rect/>")
      var request = DecodeRequest()
      request.limits.workingByteCount = 8 << 20
      #expect(throws: ImageDecodingError.self) { try SVGDecoder().decode(file, request) }
      request.minimumSize = PixelSize(width: 100, height: 50)
      #expect(try SVGDecoder().decode(file, request).size == PixelSize(width: 100, height: 50))
      request.isCancelled = { true }
      #expect(throws: ImageDecodingError.cancelled) { try SVGDecoder().decode(file, request) }
    }
  }
#endif
