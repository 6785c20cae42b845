#if canImport(Darwin)
  import Foundation

  /// Says when a table's file may be read on a locked device.
  enum FileProtection {
    static func apply(_ protection: ImageFormat.Protection, to path: String) {
      let type: FileProtectionType =
        switch protection {
        case .none: .none
        case .complete: .complete
        case .untilFirstUnlock: .completeUntilFirstUserAuthentication
        }
      // On a volume without data protection the call fails, and there is nothing to protect with.
      try? FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
    }
  }
#endif
