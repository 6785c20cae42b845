package import Pixels

/// How much larger than it is drawn a picture is decoded: the one place that says which scale is good enough.
///
/// The resampler hides what a decoder's own reduction leaves out or makes up, the better the more pixels it
/// has for one. The margins are read from the plot of `imagecache-bench --scenario scales`.
package enum DecodeMargin {
  /// For decoders that leave out the higher frequencies of each block, as libjpeg does at 1/4 and 1/2: below,
  /// fine patterns get rings that the picture does not have.
  private static let usual = 2

  /// For pixels that are averages of the picture's, as libjpeg's are at 1/8: 1.85 times the size drawn, as a
  /// part of the usual margin. Averages make fewer rings there than 1/4 and 1/2 make at twice the size.
  private static let averages = (numerator: 37, denominator: 40)

  /// The size at which any decoder's result is good enough.
  ///
  /// - Parameters:
  ///   - drawn: The smallest size of the whole picture that shows the drawing one pixel to one.
  ///   - fullSize: The whole picture's size, which is good enough for everything.
  package static func minimumSize(for drawn: PixelSize, of fullSize: PixelSize) -> PixelSize {
    PixelSize(
      width: min(drawn.width * usual, fullSize.width),
      height: min(drawn.height * usual, fullSize.height))
  }

  /// The size at which a result of averages is good enough; `nil` where the picture is not that much
  /// larger than it is drawn.
  ///
  /// - Parameter minimum: A result of ``minimumSize(for:of:)``, or the larger sides of several.
  package static func averagedSize(for minimum: PixelSize, of fullSize: PixelSize) -> PixelSize? {
    guard minimum.width < fullSize.width, minimum.height < fullSize.height else { return nil }
    func reduced(_ side: Int) -> Int {
      (side * averages.numerator + averages.denominator - 1) / averages.denominator
    }
    return PixelSize(width: reduced(minimum.width), height: reduced(minimum.height))
  }
}
