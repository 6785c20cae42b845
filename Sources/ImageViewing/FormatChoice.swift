package import FastImageCache

/// Chooses the format in which a view of some size shows an image; pure.
///
/// A view that fits an image into its size is filled by an exact format as soon as one side suffices. Images of a
/// format with proportions of their own may be wide or tall, so both sides of the format have to suffice, as for a view
/// that is covered.
package struct FormatChoice: Hashable, Sendable {
  /// Only formats of this family; `nil` for all formats of the cache.
  package var family: String?

  /// Whether the image covers the view instead of fitting into it.
  package var covers: Bool

  package init(family: String? = nil, covers: Bool = false) {
    (self.family, self.covers) = (family, covers)
  }

  /// The smallest format that fills a view, or else the largest one.
  ///
  /// - Parameters:
  ///   - formats: Of equal ones the first counts.
  ///   - width: Of the view, in points.
  ///   - height: Of the view, in points.
  ///   - scale: Pixels in a point.
  /// - Returns: `nil` for a view without area, which shows nothing, and without a format of the family.
  package func format(
    among formats: [ImageFormat], width: Double, height: Double, scale: Double
  ) -> ImageFormat? {
    guard width > 0, height > 0 else { return nil }
    let (width, height) = ((width * scale).rounded(), (height * scale).rounded())
    let family = formats.filter { self.family == nil || $0.family == self.family }
      .sorted { $0.pixelCount < $1.pixelCount }
    return family.first { fills($0, width, height) } ?? Self.largest(of: family)
  }

  private func fills(_ format: ImageFormat, _ width: Double, _ height: Double) -> Bool {
    let (isWide, isHigh) = (
      Double(format.size.width) >= width, Double(format.size.height) >= height
    )
    return covers || format.keepsProportions ? isWide && isHigh : isWide || isHigh
  }

  /// The format of the most pixels.
  package static func largest(of formats: [ImageFormat]) -> ImageFormat? {
    formats.reduce(nil) { largest, format in
      largest.map { $0.pixelCount >= format.pixelCount } == true ? largest : format
    }
  }
}

extension ImageFormat {
  fileprivate var pixelCount: Int { size.width * size.height }
}
