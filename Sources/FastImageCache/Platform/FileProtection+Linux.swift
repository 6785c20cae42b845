#if !canImport(Darwin)
  /// Data protection is a service of Apple's systems; files here are readable by their owner only.
  enum FileProtection {
    static func apply(_ protection: ImageFormat.Protection, to path: String) {}
  }
#endif
