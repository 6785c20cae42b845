#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Synchronization

  extension ColorSpace {
    /// Display P3's profile, which Little CMS makes the same each time.
    private static let displayP3Profile = AtomicLazyReference<Profile>()

    private final class Profile: Sendable {
      let bytes: Data

      init?() {
        let colors = CodedColors(primaries: 12, transfer: 13)
        // The only error is a lack of memory, which `withProfile` throws as its own.
        guard let bytes = try? colors.makeProfile(named: "Display P3") else { return nil }
        self.bytes = bytes
      }
    }

    /// Lends the profile that a file with pixels of that format needs; empty for sRGB, which files without a
    /// profile have, and for gray, which is the same in all spaces.
    ///
    /// Throws `outOfMemory` rather than let a file be written whose pixels count as another space's.
    func withProfile<Result>(
      for format: PixelFormat, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(ImageEncodingError) -> Result {
      guard self == .displayP3, format != .gray8 else {
        return body(UnsafeRawBufferPointer(start: nil, count: 0))
      }
      // A failure is not kept: the next file may find memory.
      guard
        let profile = Self.displayP3Profile.load()
          ?? Profile().map({ Self.displayP3Profile.storeIfNil($0) })
      else { throw .outOfMemory }
      return profile.bytes.withUnsafeBytes(body)
    }
  }
#endif
