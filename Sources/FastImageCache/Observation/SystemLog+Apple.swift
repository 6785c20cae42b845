#if canImport(Darwin)
  import os

  /// The unified log and the signposts of one listener.
  struct SystemLog {
    private static let subsystem = "FastImageCache"

    private let loggers = LogLine.Category.allCases.map {
      Logger(subsystem: SystemLog.subsystem, category: $0.rawValue)
    }
    private let signposter = OSSignposter(subsystem: SystemLog.subsystem, category: "loads")
    private var intervals = LoadIntervals()
    private var states: [LoadIntervals.Number: OSSignpostIntervalState] = [:]

    mutating func take(_ event: ProcessEvent) {
      let line = LogLine(event)
      if let index = LogLine.Category.allCases.firstIndex(of: line.category) {
        loggers[index].log(level: line.level.type, "\(line.text)")
      }
      switch intervals.change(by: event) {
      case .begin(let number, let oldest):
        if let state = oldest.flatMap({ states.removeValue(forKey: $0) }) {
          signposter.endInterval("load", state, "made room for newer ones")
        }
        states[number] = signposter.beginInterval(
          "load", id: signposter.makeSignpostID(), "\(line.text)")
      case .end(let number):
        guard let state = states.removeValue(forKey: number) else { return }
        signposter.endInterval("load", state, "\(line.text)")
      case nil:
        if line.category == .loads { signposter.emitEvent("step", "\(line.text)") }
      }
    }
  }

  extension LogLine.Level {
    fileprivate var type: OSLogType {
      switch self {
      case .debug: .debug
      case .info: .info
      case .error: .error
      }
    }
  }
#endif
