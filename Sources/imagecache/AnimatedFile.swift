import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs

/// The file of an animation, in memory.
struct AnimatedFile {
  let photo: PhotoFolder.Photo
  let header: AnimationHeader
  private let decoder: any AnimationDecoder
  private let data: Data

  /// - Returns: `nil` for an image that does not move, and for one whose decoder knows no animations.
  /// - Throws: ``ImageDecodingError``, and the errors of reading.
  init?(_ photo: PhotoFolder.Photo) throws {
    let data = try FileReader.read(LocalPath(photo.url))
    guard let decoder = try ImageDecoders.standard.decoder(for: data) as? any AnimationDecoder,
      let header = try decoder.animation(of: data, within: DecodingLimits())
    else { return nil }
    (self.photo, self.header, self.decoder, self.data) = (photo, header, decoder, data)
  }

  /// Begins with the first frame.
  ///
  /// - Throws: ``ImageDecodingError``.
  func makeReader() throws(ImageDecodingError) -> any FrameReader {
    try decoder.frames(of: data, DecodeRequest())
  }
}
