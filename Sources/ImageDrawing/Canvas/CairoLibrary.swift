#if Cairo && canImport(CCanvas)
  import CCanvas

  /// Cairo, which this package does not link: most launches of a program with a cache draw no closure.
  package enum CairoLibrary {
    /// Loads Cairo. Any thread may call this; the first call that succeeds takes a millisecond and makes the
    /// functions of `CCanvas` usable, and a call that failed may be repeated.
    ///
    /// - Parameter name: The name that the library has kept since its first version, and by which
    ///   distributions install it; tests load others.
    /// - Throws: ``DrawingError/canvasFailed(_:)``.
    package static func load(_ name: String = "libcairo.so.2") throws(DrawingError) {
      let reason: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { text in
        // The function writes a text with its zero when it returns false.
        guard let start = text.baseAddress, !fic_cairo_load(name, start, text.count) else {
          return nil
        }
        return String(cString: start)
      }
      guard let reason else { return }
      throw .canvasFailed(
        "Cairo, which Debian's package libcairo2 installs, cannot be used: \(reason)")
    }
  }
#endif
