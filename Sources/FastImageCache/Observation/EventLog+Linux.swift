#if !canImport(Darwin)
  import Foundation

  /// Lines on standard error.
  struct EventLog {
    mutating func take(_ event: ProcessEvent) {
      let line = LogLine(event)
      let text = "FastImageCache \(line.category.rawValue) \(line.text)\n"
      // A log that cannot be written is no reason to stop.
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
  }
#endif
