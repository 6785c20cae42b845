#if canImport(Darwin)
  import os

  /// The unified log and the signposts of one listener.
  struct SystemLog {
    private static let subsystem = "FastImageCache"

    private let loggers = LogCategory.allCases.map {
      Logger(subsystem: SystemLog.subsystem, category: $0.rawValue)
    }
    private let signposter = OSSignposter(subsystem: SystemLog.subsystem, category: "loads")
    private var intervals = LoadIntervals()
    private var states: [LoadIntervals.Number: OSSignpostIntervalState] = [:]

    mutating func take(_ event: ProcessEvent) {
      let (category, text) = (event.event.category, event.text)
      if let index = LogCategory.allCases.firstIndex(of: category) {
        loggers[index].log(level: event.event.level.type, "\(text)")
      }
      switch intervals.change(by: event) {
      case .begin(let number, let oldest):
        if let state = oldest.flatMap({ states.removeValue(forKey: $0) }) {
          signposter.endInterval("load", state, "made room for newer ones")
        }
        states[number] = signposter.beginInterval(
          "load", id: signposter.makeSignpostID(), "\(text)")
      case .end(let number):
        guard let state = states.removeValue(forKey: number) else { return }
        signposter.endInterval("load", state, "\(text)")
      case nil:
        if category == .loads { signposter.emitEvent("step", "\(text)") }
      }
    }
  }

  extension EventLog.Level {
    fileprivate var type: OSLogType {
      switch self {
      case .debug: .debug
      case .info: .info
      case .error: .error
      }
    }
  }
#endif
