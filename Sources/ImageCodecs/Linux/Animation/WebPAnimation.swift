#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension WebPDecoder: FrameSourceDecoder {
    typealias Source = WebPAnimation
  }

  /// The frames of an animated WebP file; RFC 9649, section 2.7.1.
  struct WebPAnimation: FrameSource {
    private static let animationFlag: UInt8 = 0x02
    /// A chunk's name and length.
    private static let headByteCount = 8
    /// Place, size, duration and flags before a frame's image.
    private static let frameHeadByteCount = 16

    private(set) var animation: StoredAnimation

    /// As for a still of the canvas: lossless frames take five bytes a pixel.
    var decodingByteCount: Int {
      // Sides have at most 24 bits, so nothing overflows.
      rowBufferByteCount(animation.canvas) + animation.canvas.width * animation.canvas.height * 5
    }

    init?(
      _ bytes: UnsafeRawBufferPointer, within limits: DecodingLimits
    ) throws(ImageDecodingError) {
      let span = bytes.bytes
      // RIFF, a length, WEBP, and the chunk VP8X with flags and the canvas.
      guard span.has("VP8X", at: 12), let flags = span.byte(at: 20),
        flags & Self.animationFlag != 0
      else { return nil }
      guard let headEnd = span.littleEndian32(at: 16), let width = span.littleEndian24(at: 24),
        let height = span.littleEndian24(at: 27), let length = span.littleEndian32(at: 4)
      else { throw .truncated }
      let canvas = PixelSize(width: width + 1, height: height + 1)
      try limits.check(canvas)
      animation = StoredAnimation(
        canvas: canvas, orientation: try WebPReader(bytes, mayBeCut: true).orientation,
        loopCount: 1)

      let announced = length + 8
      let isShort = announced > bytes.count
      let end = min(announced, bytes.count)
      var offset = 12 + Self.headByteCount + headEnd + headEnd % 2
      while offset + Self.headByteCount <= end, let count = span.littleEndian32(at: offset + 4) {
        let content = offset + Self.headByteCount..<offset + Self.headByteCount + count
        guard content.upperBound <= end else {
          guard isShort else {
            throw .damaged("WebP: the chunk at byte \(offset) is longer than the file.")
          }
          animation.isCut = true
          break
        }
        if span.has("ANIM", at: offset), let loops = span.littleEndian16(at: offset + 12),
          count >= 6
        {
          animation.loopCount = loops == 0 ? nil : loops
        } else if span.has("ANMF", at: offset) {
          animation.append(try frame(content, span), within: limits)
        }
        offset = content.upperBound + count % 2
      }
      // Some encoders count a few bytes more than they write, which are no chunk.
      if isShort, offset < end || announced >= end + Self.headByteCount { animation.isCut = true }
      guard animation.isCut || animation.frameCount > 0 else {
        throw .damaged("WebP: the animation has no frames.")
      }
    }

    private func frame(
      _ content: Range<Int>, _ span: RawSpan
    ) throws(ImageDecodingError) -> StoredFrame {
      let start = content.lowerBound
      guard content.count >= Self.frameHeadByteCount, let x = span.littleEndian24(at: start),
        let y = span.littleEndian24(at: start + 3), let width = span.littleEndian24(at: start + 6),
        let height = span.littleEndian24(at: start + 9),
        let milliseconds = span.littleEndian24(at: start + 12),
        let flags = span.byte(at: start + 15)
      else { throw .damaged("WebP: the frame at byte \(start) has no head.") }
      let frame = StoredFrame(
        x: 2 * x, y: 2 * y, size: PixelSize(width: width + 1, height: height + 1),
        duration: .ofFrame(seconds: Double(milliseconds) / 1000),
        disposal: flags & 1 == 0 ? .keep : .clear, isBlended: flags & 2 == 0,
        range: start + Self.frameHeadByteCount..<content.upperBound)
      guard frame.isInside(animation.canvas) else {
        throw .damaged("WebP: the frame at byte \(start) reaches beyond its canvas.")
      }
      return frame
    }

    func conversion(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) -> LCMSConversion? {
      try LCMSConversion.shared(
        profile: WebPReader(bytes, mayBeCut: true).profile, kind: .rgb)
    }

    func open(
      _ frame: StoredFrame, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageDecodingError) -> any EncodedFrame {
      try WebPFrame(UnsafeRawBufferPointer(rebasing: bytes[frame.range]), frame.size)
    }
  }

  /// One frame of an animated WebP file.
  private final class WebPFrame: EncodedFrame {
    let hasAlpha: Bool
    private let reader: OpaquePointer
    private let size: PixelSize
    private let byteCount: Int

    init(_ bytes: UnsafeRawBufferPointer, _ size: PixelSize) throws(ImageDecodingError) {
      guard let start = bytes.start else { throw .damaged("WebP: a frame has no image.") }
      guard let reader = fic_webp_reader_create() else { throw .outOfMemory }
      self.reader = reader
      self.size = size
      byteCount = bytes.count
      var hasAlpha = false
      let status = fic_webp_take_frame(
        reader, start, byteCount, UInt32(size.width), UInt32(size.height), &hasAlpha)
      self.hasAlpha = hasAlpha
      try status.check(.webp)
    }

    deinit { fic_webp_reader_close(reader) }

    func read(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) {
      try fic_webp_start(
        reader, rows, rowBytes, rowBytes * (size.height - 1) + size.width * 4, UInt32(size.width),
        UInt32(size.height)
      ).check(.webp)
      try WebPReader.decode(reader, byteCount: byteCount, unless: isCancelled)
    }
  }
#endif
