#if canImport(Darwin)
  import FastImageCache
  import Foundation

  extension LoadImage {
    /// A file without scans: there are no previews of it.
    func file() throws -> Data { try bitmap().pngData() }
  }
#endif
