import Pixels

/// Sizes of images that have no pixels of their own.
extension PixelSize {
  private static let nominalSide = 2048

  /// The longer side counts as 2048 pixels, or as those that the file names if they are more.
  init(
    drawing width: Double, by height: Double, of type: EncodedImageType
  ) throws(ImageDecodingError) {
    guard width > 0, height > 0, width.isFinite, height.isFinite else {
      throw .damaged("\(type.rawValue): an image of \(width) x \(height) pixels")
    }
    let scale = max(1, Double(Self.nominalSide) / max(width, height))
    func side(_ side: Double) throws(ImageDecodingError) -> Int {
      guard let pixels = Int(exactly: max(1, (side * scale).rounded())) else {
        throw .tooLarge("\(type.rawValue): a side of \(side) pixels")
      }
      return pixels
    }
    self.init(width: try side(width), height: try side(height))
  }

  /// These proportions, at or just above the size wanted, and no larger than this.
  func drawn(for minimumSize: PixelSize?) -> PixelSize {
    guard let minimumSize else { return self }
    let scale = max(
      Double(minimumSize.width) / Double(width), Double(minimumSize.height) / Double(height))
    guard scale < 1 else { return self }
    func side(_ side: Int) -> Int { max(1, Int((Double(side) * scale).rounded(.up))) }
    return PixelSize(width: side(width), height: side(height))
  }
}
