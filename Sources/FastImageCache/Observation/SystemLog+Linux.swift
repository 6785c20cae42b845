#if !canImport(Darwin)
  import Foundation

  /// Lines on standard error.
  struct SystemLog {
    mutating func take(_ event: ProcessEvent) { EventLog.write(event.line(at: Date())) }
  }
#endif
