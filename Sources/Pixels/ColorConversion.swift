/// Turns the colours of decoded pixels into a ``ColorSpace``.
///
/// A decoder attaches one to a ``Bitmap`` whose file carried a profile other than sRGB. It is
/// applied after scaling, when there are few pixels left; until then the bitmap's numbers are in
/// the profile's space.
package protocol ColorConversion: Sendable {
  /// Builds what the conversion to a space needs, before the first row of a drawing.
  ///
  /// - Returns: False for want of memory.
  func prepare(for space: ColorSpace) -> Bool

  /// Converts a run of pixels in place, into a space for which ``prepare(for:)`` has returned true.
  ///
  /// - Parameters:
  ///   - pixels: `pixelCount` pixels in a row without gaps, not multiplied by alpha; alpha and the
  ///     unused byte stay as they are.
  ///   - format: `.bgra32`, `.bgrx32` or `.gray8`; the same as the bitmap's.
  ///   - space: The space of the pixels afterwards.
  func convert(
    _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace)
}

extension ColorConversion {
  package func prepare(for space: ColorSpace) -> Bool { true }

  /// Converts pixels whose colours are multiplied by alpha where the format has it.
  package func convertRow(
    _ row: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
  ) {
    if format.hasAlpha { PixelRows.divideByAlpha(row, count: pixelCount) }
    convert(row, pixelCount: pixelCount, format: format, to: space)
    if format.hasAlpha { PixelRows.multiplyByAlpha(row, count: pixelCount) }
  }
}
