#if !canImport(Darwin)
  import Foundation

  /// Lines on standard error.
  struct SystemLog {
    mutating func take(_ event: ProcessEvent) {
      // A log that cannot be written is no reason to stop.
      try? FileHandle.standardError.write(contentsOf: Data(event.line(at: Date()).utf8))
    }
  }
#endif
