/// Turns the colours of decoded pixels into sRGB.
///
/// A decoder attaches one to a ``Bitmap`` whose file carried a profile other than sRGB. It is
/// applied after scaling, when there are few pixels left; until then the bitmap's numbers are in
/// the profile's space.
package protocol ColorConversion: Sendable {
  /// Converts a run of pixels in place.
  ///
  /// - Parameters:
  ///   - pixels: `pixelCount` pixels in a row without gaps, not multiplied by alpha; alpha and the
  ///     unused byte stay as they are.
  ///   - format: `.bgra32`, `.bgrx32` or `.gray8`; the same as the bitmap's.
  func convertToSRGB(_ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat)
}
