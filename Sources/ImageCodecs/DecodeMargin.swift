package import Pixels

/// How much larger than it is drawn an image is decoded: the one place that says which scale is good enough
/// for which wish.
///
/// The resampler hides what a decoder's own reduction leaves out or makes up, the better the more pixels it
/// has for one. The margins are read from the plot of `Tests/Benchmarks/run --scenario scales`; `--scenario Q1,Q2`
/// holds them against photographs.
package enum DecodeMargin: CaseIterable, Comparable {
  /// For a decode that takes too much memory with a larger margin.
  case least

  /// At least 48 dB on photographs at 200 x 200.
  case balanced

  /// At least 50 dB on photographs at 200 x 200.
  case best

  /// In fortieths of the size drawn.
  private var fortieths: Int {
    switch self {
    case .least: 70
    case .balanced: 80
    case .best: 120
    }
  }

  /// For pixels that are averages of the image's, as libjpeg's are at 1/8: 1.85 times the size drawn where
  /// ``balanced`` asks for twice the size.
  private static let averages = 37

  /// For pixels that lack the higher frequencies of each block, as libjpeg's do at 1/4 and 1/2: 2.3 times the
  /// size drawn instead. Below, fine patterns get rings that the image does not have.
  private static let frequencies = 46

  /// The size at which the result of a decoder that scales smoothly is good enough.
  ///
  /// - Parameters:
  ///   - drawn: The smallest size of the whole image that shows the drawing one pixel to one.
  ///   - fullSize: The whole image's size, which is good enough for everything.
  package func minimumSize(for drawn: PixelSize, of fullSize: PixelSize) -> PixelSize {
    let size = drawn.timesFortieths(fortieths)
    return PixelSize(
      width: min(size.width, fullSize.width), height: min(size.height, fullSize.height))
  }

  /// The size at which a result of averages is good enough.
  ///
  /// - Parameter minimum: A result of ``minimumSize(for:of:)``, or the larger sides of several.
  package static func averagedSize(for minimum: PixelSize) -> PixelSize {
    minimum.timesFortieths(averages)
  }

  /// The size at which a result without higher frequencies is good enough.
  ///
  /// - Parameter minimum: As with ``averagedSize(for:)``.
  package static func filteredSize(for minimum: PixelSize) -> PixelSize {
    minimum.timesFortieths(frequencies)
  }
}

extension ImageDecoder {
  /// The minimum size by the largest margin whose decode keeps to the memory, or by the least one.
  ///
  /// - Parameters:
  ///   - byteBudget: What the decode may take.
  ///   - size: The minimum size by a margin.
  package func minimumSize(
    for header: ImageHeader, within byteBudget: Int, _ size: (DecodeMargin) -> PixelSize
  ) -> PixelSize {
    let margin = DecodeMargin.allCases.last {
      workingByteCount(for: header, minimumSize: size($0)) <= byteBudget
    }
    return size(margin ?? .least)
  }
}

extension PixelSize {
  fileprivate func timesFortieths(_ count: Int) -> PixelSize {
    func side(_ side: Int) -> Int { (side * count + 39) / 40 }
    return PixelSize(width: side(width), height: side(height))
  }
}
