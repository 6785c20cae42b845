#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension PNGDecoder: FrameSourceDecoder {
    typealias Source = PNGAnimation
  }

  /// The frames of an animated PNG file; PNG, third edition, sections 4.9 and 11.3.6.
  ///
  /// libpng knows no animations. So each frame but the image proper becomes a PNG file of its own, with the palette and
  /// the transparent colours of the whole one.
  struct PNGAnimation: FrameSource {
    private let chunks: PNGChunks
    private let limits: DecodingLimits
    private(set) var animation: StoredAnimation

    /// A frame of its own is copied once.
    var decodingByteCount: Int {
      let longest = animation.frames.map(\.range.count).max() ?? 0
      return rowBufferByteCount(animation.canvas).addingClamped(longest)
    }

    init?(
      _ bytes: UnsafeRawBufferPointer, within limits: DecodingLimits
    ) throws(ImageDecodingError) {
      let span = bytes.bytes
      chunks = try PNGChunks(span)
      self.limits = limits
      try limits.check(chunks.size)
      var scan = PNGFrameScan(
        StoredAnimation(
          canvas: chunks.size, orientation: Orientation(exif: span, in: chunks.exif), loopCount: nil
        ),
        limits)
      try scan.run(span)
      // Without frames the image proper is all that there is to see, and it does not move.
      guard let frameCount = scan.announcedCount, frameCount > 1,
        scan.animation.frameCount > 0 || scan.animation.isCut
      else { return nil }
      animation = scan.animation
    }

    func conversion(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) -> LCMSConversion? {
      let reader = try PNGReader(bytes, chunks, limits)
      // Gray is composed as colour.
      let kind: LCMSConversion.Kind = reader.profileKind == .rgb ? .rgb : .grayAsColor
      return try chunks.colors.conversion(profile: reader.profile, kind: kind)
    }

    func open(
      _ frame: StoredFrame, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageDecodingError) -> any EncodedFrame {
      if bytes.bytes.has("IDAT", at: frame.range.lowerBound + 4) {
        return PNGFrame(chunks, limits, bytes: bytes)
      }
      return PNGFrame(chunks, limits, file: try file(of: frame, bytes))
    }

    private func file(
      of frame: StoredFrame, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageDecodingError) -> Data {
      var file = Data(capacity: frame.range.count + 1024)
      func append(_ range: Range<Int>) {
        file.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
      }
      append(0..<8)
      // Depth, kind of colours, compression, filter and interlacing stand behind the size.
      let size = [UInt32(frame.size.width).bigEndian, UInt32(frame.size.height).bigEndian]
      file.appendPNGChunk("IHDR", size.withUnsafeBytes { Array($0) } + bytes[24..<29])
      for offset in [chunks.palette, chunks.transparency] {
        guard let offset, let length = bytes.bytes.bigEndian32(at: offset) else { continue }
        append(offset..<offset + length + 12)
      }
      var offset = frame.range.lowerBound
      while offset < frame.range.upperBound, let length = bytes.bytes.bigEndian32(at: offset) {
        let content = offset + 8..<offset + 8 + length
        offset = content.upperBound + 4
        guard bytes.bytes.has("fdAT", at: content.lowerBound - 4) else { continue }
        guard PNGChecksum.isRight(content, bytes.bytes) else {
          throw .damaged("PNG: the frame's chunk at byte \(content.lowerBound - 8) is damaged.")
        }
        file.appendPNGChunk("IDAT", bytes[content.dropFirst(4)])
      }
      return file
    }
  }

  /// One frame of an animated PNG file: the image proper, or a file of its own.
  private final class PNGFrame: EncodedFrame {
    let hasAlpha: Bool
    private let chunks: PNGChunks
    private let limits: DecodingLimits
    private let bytes: UnsafeRawBufferPointer?
    private let file: Data

    init(
      _ chunks: PNGChunks, _ limits: DecodingLimits, bytes: UnsafeRawBufferPointer? = nil,
      file: Data = Data()
    ) {
      hasAlpha = chunks.hasAlpha
      self.chunks = chunks
      self.limits = limits
      self.bytes = bytes
      self.file = file
    }

    func read(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) {
      if let bytes {
        return try read(PNGReader(bytes, chunks, limits), rows, rowBytes, unless: isCancelled)
      }
      try file.lendBytes { bytes throws(ImageDecodingError) in
        let reader = try PNGReader(bytes, PNGChunks(bytes.bytes), limits)
        try read(reader, rows, rowBytes, unless: isCancelled)
      }
    }

    private func read(
      _ reader: PNGReader, _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int,
      unless isCancelled: () -> Bool
    ) throws(ImageDecodingError) {
      let size = reader.size
      for _ in 0..<(reader.isInterlaced ? 7 : 1) {
        for first in stride(from: 0, to: size.height, by: UprightRows.stripHeight) {
          if isCancelled() { throw .cancelled }
          let count = min(UprightRows.stripHeight, size.height - first)
          try reader.readPass(rows + first * rowBytes, rowBytes, count)
        }
      }
      reader.premultiply(rows, rowBytes, size.height, width: size.width)
      guard reader.format == .gray8 else { return }
      for row in 0..<size.height { fic_rows_gray_to_bgrx(rows + row * rowBytes, size.width) }
    }
  }
#endif
