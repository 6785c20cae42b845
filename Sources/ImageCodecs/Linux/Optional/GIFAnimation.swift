#if GIF && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension GIFDecoder: FrameSourceDecoder {
    typealias Source = GIFAnimation
  }

  /// The frames of a GIF file, on the screen of its first frame. What lies beyond the screen is not shown, and what
  /// cannot be read behind the first frames ends the animation, both as in browsers.
  struct GIFAnimation: FrameSource {
    private(set) var animation: StoredAnimation

    var decodingByteCount: Int { rowBufferByteCount(animation.canvas) }

    init?(
      _ bytes: UnsafeRawBufferPointer, within limits: DecodingLimits
    ) throws(ImageDecodingError) {
      let reader = try GIFReader(bytes)
      try limits.check(reader.imageHeader.size)
      animation = StoredAnimation(canvas: reader.imageHeader.size, loopCount: 1)
      var (begin, begunCount) = (0, 0)
      var isWithinFrame = true
      do throws(ImageDecodingError) {
        repeat {
          begunCount += 1
          isWithinFrame = true
          let next = try reader.passFrame()
          animation.append(reader.frame(begin..<next), within: limits)
          begin = next
          isWithinFrame = false
        } while try reader.takeFrame(at: begin)
      } catch {
        guard error.isDamage else { throw error }
        // Behind a whole frame nothing need follow: browsers play a file without its trailer, or with other bytes
        // there. But a block that begins as one of GIF's has to end.
        let beginsBlock = begin < bytes.count && [0x21, 0x2c].contains(bytes[begin])
        animation.isCut = isWithinFrame || beginsBlock
      }
      let repeats = reader.repeats
      // A still may lack its end, which nothing needs.
      guard begunCount > 1 || repeats >= 0 else { return nil }
      // Each browser plays an animation once before it repeats it.
      if repeats >= 0 { animation.loopCount = repeats == 0 ? nil : repeats + 1 }
    }

    func conversion(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) -> LCMSConversion? {
      nil
    }

    func open(
      _ frame: StoredFrame, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageDecodingError) -> any EncodedFrame {
      let reader = try GIFReader(bytes)
      if frame.range.lowerBound > 0, try !reader.takeFrame(at: frame.range.lowerBound) {
        throw .truncated
      }
      return reader
    }
  }

  extension GIFReader: EncodedFrame {
    var hasAlpha: Bool { header.is_transparent }

    fileprivate func frame(_ range: Range<Int>) -> StoredFrame {
      let disposal: StoredFrame.Disposal =
        switch header.disposal {
        case 2: .clear
        // Some old programs wrote 4.
        case 3, 4: .restore
        default: .keep
        }
      return StoredFrame(
        x: Int(header.frame_x), y: Int(header.frame_y),
        size: PixelSize(width: Int(header.frame_width), height: Int(header.frame_height)),
        duration: .ofFrame(seconds: Double(header.delay) / 100), disposal: disposal,
        isBlended: header.is_transparent, range: range)
    }

    func read(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) {
      _ = try read(rows, rowBytes, showsPart: false, unless: isCancelled)
    }
  }
#endif
