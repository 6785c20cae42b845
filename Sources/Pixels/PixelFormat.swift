/// How one pixel lies in memory: the four styles of the 2013 library, byte for byte, on every
/// platform and for every byte order of the host.
public enum PixelFormat: String, CaseIterable, Hashable, Sendable, Codable {
  /// Four bytes: blue, green, red, alpha; the colours are multiplied by alpha.
  ///
  /// `FICImageFormatStyle32BitBGRA` of the original library.
  case bgra32

  /// Four bytes: blue, green, red and one that is always 255; for images without holes, which a
  /// compositor draws without blending.
  ///
  /// `FICImageFormatStyle32BitBGR` of the original library.
  case bgrx32

  /// Two bytes, least significant first: bit 15 zero, then five bits each of red, green and blue.
  ///
  /// `FICImageFormatStyle16BitBGR` of the original library.
  case bgr16

  /// One byte: the luma of ITU-R BT.601, 0.299 red + 0.587 green + 0.114 blue.
  ///
  /// `FICImageFormatStyle8BitGrayscale` of the original library.
  case gray8

  /// Bytes from one pixel to the next in its row.
  public var bytesPerPixel: Int {
    switch self {
    case .bgra32, .bgrx32: 4
    case .bgr16: 2
    case .gray8: 1
    }
  }

  /// Whether a pixel can be partly transparent.
  public var hasAlpha: Bool { self == .bgra32 }
}
