#if AVIF && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension AVIFDecoder: AnimationDecoder {
    /// Frames that later ones refer to; AV1, section 7.20.
    private static let referenceCount = 8

    package func animation(
      of data: Data, within limits: DecodingLimits
    ) throws(ImageDecodingError) -> AnimationHeader? {
      try limits.check(encodedByteCount: data.count)
      return try data.lendBytes { bytes throws(ImageDecodingError) in
        try animation(AVIFReader(bytes, mayBeCut: true), bytes.count, within: limits)
      }
    }

    private func animation(
      _ reader: AVIFReader, _ encodedByteCount: Int, within limits: DecodingLimits
    ) throws(ImageDecodingError) -> AnimationHeader? {
      let (header, announcedCount) = (reader.imageHeader, Int(reader.header.frames))
      guard announcedCount > 1 else { return nil }
      // What a still takes is at least twice a decoded frame.
      let references = header.wholeImageByteCount.multipliedClamped(by: Self.referenceCount / 2)
      let byteCount = workingByteCount(for: header, minimumSize: nil)
        .addingClamped(references)
      try limits.check(frameCount: announcedCount, of: header.size)
      try limits.check(
        header, encodedByteCount: encodedByteCount, workingByteCount: byteCount)
      let frameCount = reader.wholeFrameCount
      guard frameCount > 0 else { throw .truncated }
      let repeats = Int(reader.header.repeats)
      return AnimationHeader(
        frameCount: frameCount, loopCount: repeats < 0 ? nil : repeats + 1,
        frameDurations: (0..<frameCount).map(reader.duration), isCut: frameCount < announcedCount,
        workingByteCount: byteCount)
    }

    package func frames(
      of data: Data, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> sending any FrameReader {
      try request.limits.check(encodedByteCount: data.count)
      return try data.lendBytes { bytes throws(ImageDecodingError) in
        let announced = try AVIFReader(bytes, mayBeCut: true)
        guard let animation = try animation(announced, bytes.count, within: request.limits) else {
          throw .unsupported("An image that does not move has no frames.")
        }
        // Again, with the size that was announced as dav1d's limit.
        let reader = try AVIFReader(
          bytes, pixelLimit: announced.largestPixelCount, mayBeCut: true)
        return AVIFFrames(data, bytes.baseAddress, reader, animation.frameCount, request)
      }
    }
  }

  /// Decodes the frames of an AVIF file, which refer to each other, one after the other.
  private final class AVIFFrames: FrameReader {
    private let data: Data
    /// The address that the decoder keeps. It stays while `data` does: so many bytes lie in memory of their own, and
    /// writing to another copy of the data moves that copy.
    private let start: UnsafeRawPointer?
    private let reader: AVIFReader
    private let request: DecodeRequest
    private var framesLeft: Int

    init(
      _ data: Data, _ start: UnsafeRawPointer?, _ reader: AVIFReader, _ frameCount: Int,
      _ request: DecodeRequest
    ) {
      self.data = data
      self.start = start
      self.reader = reader
      framesLeft = frameCount
      // At full size, whatever the request says.
      self.request = DecodeRequest(limits: request.limits, isCancelled: request.isCancelled)
    }

    func next() throws(ImageDecodingError) -> Bitmap? {
      guard framesLeft > 0 else { return nil }
      framesLeft -= 1
      return try data.lendBytes { bytes throws(ImageDecodingError) in
        precondition(bytes.baseAddress == start, "The bytes of an animation have moved.")
        return try reader.decode(request)
      }
    }
  }
#endif
