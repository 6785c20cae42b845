#if !canImport(ImageIO)
  import Foundation
  import Pixels

  extension ColorSpace {
    /// Display P3's profile: Little CMS makes the same bytes each time. Empty where there is no memory.
    private static let displayP3Profile =
      CodedColors(primaries: 12, transfer: 13).makeProfile(named: "Display P3") ?? Data()

    /// Lends the profile that a file with pixels of that format needs; empty for sRGB, which files without a
    /// profile have, and for gray, which is the same in all spaces.
    func withProfile<Result>(
      for format: PixelFormat, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
      guard self == .displayP3, format != .gray8 else {
        return body(UnsafeRawBufferPointer(start: nil, count: 0))
      }
      return Self.displayP3Profile.withUnsafeBytes(body)
    }
  }
#endif
