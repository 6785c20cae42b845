import ImageCodecs

extension ImageFormat {
  /// How many of a source's pixels an image is drawn from.
  ///
  /// A JPEG file can be decoded at 1/8, 1/4 and 1/2 of its size, in less time and less memory than in full. The
  /// reduction to the format's size hides what such a decode leaves out, the better the more pixels it has.
  /// Of formats in one family, which share a decode, each gets at least what it asks for.
  public enum Quality: String, Hashable, Sendable, Codable {
    /// Fast, and close to a drawing from all pixels: 48 decibels or more on 45 photographs at 200 x 200, and 54 or
    /// more on average.
    ///
    /// From 1.85 times the size drawn on for JPEG at 1/8, from 2.3 times on for 1/4 and 1/2, from twice the size on
    /// for other kinds of files. Where the decode would exceed the limits of memory, from 1.62 times, twice and 1.75
    /// times the size on, with fewer decibels.
    case balanced

    /// Closer to it: 50 decibels or more on the same photographs, for fine patterns such as fabric, hair and text.
    ///
    /// Half as many pixels again across and down as ``balanced``, so that some images are decoded at the next larger
    /// scale: 12 megapixels at 200 x 200 at 1/4 instead of 1/8. An image whose decode would exceed the limits of
    /// memory is decoded as with ``balanced``, whose sizes shrink likewise.
    case best
  }
}

extension ImageFormat.Quality {
  var margin: DecodeMargin {
    switch self {
    case .balanced: .balanced
    case .best: .best
    }
  }
}
