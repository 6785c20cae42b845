#if canImport(Darwin)
  import Darwin
  import Dispatch

  /// The system's notices of memory pressure; `PressureNotices+Linux.swift` has the same face.
  enum PressureNotices {
    /// Begins to report, until the process ends.
    static func begin(_ report: @escaping MemoryPressureWatch.Report) {
      let watched = Watched(
        source: DispatchSource.makeMemoryPressureSource(
          eventMask: [.warning, .critical],
          queue: DispatchQueue(label: "FastImageCache.memory-pressure", qos: .utility)))
      // The handler refers to its source, which keeps it.
      watched.source.setEventHandler {
        report(watched.source.data.contains(.critical) ? .pages : .spare)
      }
      watched.source.activate()
    }

    /// `@unchecked Sendable` is safe: libdispatch lets any thread call a source.
    private struct Watched: @unchecked Sendable {
      let source: any DispatchSourceMemoryPressure
    }
  }
#endif
