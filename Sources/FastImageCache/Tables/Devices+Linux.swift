#if !canImport(Darwin)
  extension ImageFormat.Devices {
    /// The kind of device that the program runs on.
    public static var current: ImageFormat.Devices { .desktop }
  }
#endif
