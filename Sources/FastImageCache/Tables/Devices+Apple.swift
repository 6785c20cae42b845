#if canImport(Darwin)
  import Foundation

  extension ImageFormat.Devices {
    /// The kind of device that the program runs on.
    public static var current: ImageFormat.Devices {
      #if os(macOS)
        return .desktop
      #elseif os(tvOS)
        return .tv
      #elseif os(watchOS)
        return .watch
      #elseif os(visionOS)
        return .headset
      #else
        // The model's name, since UIKit's idiom can be asked on the main actor only.
        var system = utsname()
        uname(&system)
        let model = withUnsafeBytes(of: &system.machine) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return model.hasPrefix("iPad") ? .pad : .phone
      #endif
    }
  }
#endif
