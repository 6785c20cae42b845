#if canImport(ImageIO)
  import CoreGraphics
  import Foundation
  import Pixels

  extension ImageDecoders {
    /// The first page of PDF documents, on Apple platforms, drawn upright on white at the size that is wanted.
    ///
    /// ``standard`` has no such decoder, because CoreGraphics decodes the images within a page without a limit: a
    /// cache that shows documents you trust adds it to the decoders of its configuration. A page's longer side
    /// counts as 2048 pixels, or as its points if they are more. What needs a password is an error. A drawing cannot be
    /// cancelled.
    public static var pdf: any ImageDecoder { PDFDecoder() }
  }

  /// PDF by CoreGraphics, on white as paper is and as viewers show it: most documents' text is black.
  struct PDFDecoder: ImageDecoder {
    func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
      try PDFPage(data).header
    }

    /// CoreGraphics does not tell how much it takes inside: as much as the result counts, and a copy of the file.
    func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
      let size = header.size.drawn(for: minimumSize)
      return (size.pixelCount ?? .max).multipliedClamped(by: 8)
        .addingClamped(header.temporaryByteCount)
    }

    func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
      try request.limits.check(encodedByteCount: data.count)
      let page = try PDFPage(data)
      let header = page.header
      try request.limits.check(
        header, encodedByteCount: data.count,
        workingByteCount: workingByteCount(for: header, minimumSize: request.minimumSize))
      if request.isCancelled() { throw .cancelled }
      let bitmap = try page.draw(header.size.drawn(for: request.minimumSize), request.colorSpace)
      if request.isCancelled() { throw .cancelled }
      return bitmap
    }
  }

  /// The first page of one document.
  private struct PDFPage {
    let header: ImageHeader
    private let page: CGPDFPage
    private let turns: Int
    private let box: CGRect

    init(_ data: Data) throws(ImageDecodingError) {
      guard let provider = CGDataProvider(data: data as CFData),
        let document = CGPDFDocument(provider)
      else { throw .damaged("PDF: CoreGraphics finds no document.") }
      // Most documents that may not be changed are encrypted with the empty password.
      guard document.isUnlocked || document.unlockWithPassword("") else {
        throw .unsupported("PDF: a password is needed.")
      }
      guard let page = document.page(at: 1) else { throw .damaged("PDF: there is no page.") }
      self.page = page
      box = page.getBoxRect(.cropBox)
      let quarters = (Int(page.rotationAngle) / 90 % 4 + 4) % 4
      turns = quarters
      let (width, height) = (Double(box.size.width), Double(box.size.height))
      let size = try PixelSize(drawing: width, by: height, of: .pdf)
      var header = ImageHeader(size: quarters % 2 == 0 ? size : size.transposed)
      header.temporaryByteCount = data.count
      self.header = header
    }

    func draw(_ size: PixelSize, _ colorSpace: ColorSpace) throws(ImageDecodingError) -> Bitmap {
      guard let layout = PixelLayout(size: size, format: .bgrx32),
        let space = colorSpace.cgColorSpace
      else { throw .tooLarge("\(size) pixels cannot be counted.") }
      let edges = ImageEdges(filling: size, fullSize: header.size)
      let bitmap = try Bitmap(
        unfilled: layout, edges: edges, colorSpace: colorSpace
      ) { pixels throws(ImageDecodingError) in
        // White, and skipped alpha bytes have to be 255.
        for row in stride(from: 0, to: pixels.count, by: layout.rowBytes) {
          pixels[row..<row + 4 * size.width].initializeMemory(as: UInt8.self, repeating: 255)
        }
        let context = CGContext(
          data: pixels.baseAddress, width: size.width, height: size.height, bitsPerComponent: 8,
          bytesPerRow: layout.rowBytes, space: space,
          bitmapInfo: CGImageAlphaInfo.noneSkipFirst.rawValue
            | CGBitmapInfo.byteOrder32Little.rawValue)
        guard let context else { throw .outOfMemory }
        context.concatenate(transform(to: size))
        context.clip(to: box)
        context.drawPDFPage(page)
      }
      guard let bitmap else { throw .outOfMemory }
      return bitmap
    }

    /// From the page's box to the bitmap: `getDrawingTransform` would enlarge nothing.
    private func transform(to size: PixelSize) -> CGAffineTransform {
      let (width, height) = (CGFloat(size.width), CGFloat(size.height))
      let (across, up) = (box.size.width, box.size.height)
      let (x, y) = (box.origin.x, box.origin.y)
      // The page's turns are clockwise, and y grows upwards.
      switch turns {
      case 1:
        return CGAffineTransform(
          a: 0, b: -height / across, c: width / up, d: 0, tx: -y * width / up,
          ty: height + x * height / across)
      case 2:
        return CGAffineTransform(
          a: -width / across, b: 0, c: 0, d: -height / up, tx: width + x * width / across,
          ty: height + y * height / up)
      case 3:
        return CGAffineTransform(
          a: 0, b: height / across, c: -width / up, d: 0, tx: width + y * width / up,
          ty: -x * height / across)
      default:
        return CGAffineTransform(
          a: width / across, b: 0, c: 0, d: height / up, tx: -x * width / across,
          ty: -y * height / up)
      }
    }
  }

  extension PDFDecoder: SystemDecoder {
    var types: [EncodedImageType] { [.pdf] }

    func colorSpace(of data: Data) -> ColorSpace? { .sRGB }
  }
#endif
