package import FastImageCache

extension [ImageFormat] {
  /// The smallest format whose images fill a room, or the largest if no format's do.
  ///
  /// - Parameter room: In pixels.
  package func smallest(filling room: PixelSize) -> ImageFormat? {
    func area(_ format: ImageFormat) -> Int { format.size.width * format.size.height }
    return
      filter { $0.size.width >= room.width && $0.size.height >= room.height }
      .min { area($0) < area($1) } ?? self.max { area($0) < area($1) }
  }
}
