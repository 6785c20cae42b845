#if !canImport(Darwin)
  import CCURL

  /// libcurl, which no program links: most launches of a program with a cache send no request.
  enum CurlLibrary {
    /// Loads and initialises libcurl. Any thread may call this; the first call that succeeds takes
    /// milliseconds and makes the functions of `CCURL` usable, and a call that failed may be repeated.
    ///
    /// - Throws: ``ImageSourceError/missingLibrary(_:)``.
    static func load() throws(ImageSourceError) {
      let reason: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { text in
        // The function writes a text with its zero when it returns false.
        guard let start = text.baseAddress, !fic_curl_load(start, text.count) else { return nil }
        return String(cString: start)
      }
      guard let reason else { return }
      throw .missingLibrary(
        "libcurl, which Debian's package libcurl4 installs, cannot be used: \(reason)")
    }
  }
#endif
