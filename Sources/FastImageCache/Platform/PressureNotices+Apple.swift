#if canImport(Darwin)
  import Darwin
  import Dispatch

  /// The system's notices of memory pressure; `PressureNotices+Linux.swift` has the same face.
  enum PressureNotices {
    /// Begins to report; returns the call that ends it.
    static func begin(
      _ report: @escaping MemoryPressureWatch.Report
    ) -> MemoryPressureWatch.End {
      let watched = Watched(
        source: DispatchSource.makeMemoryPressureSource(
          eventMask: [.warning, .critical],
          queue: DispatchQueue(label: "FastImageCache.memory-pressure", qos: .utility)))
      // The handler refers to its source, until the cancellation drops the handler.
      watched.source.setEventHandler {
        report(watched.source.data.contains(.critical) ? .critical : .warning)
      }
      watched.source.activate()
      return { watched.source.cancel() }
    }

    /// `@unchecked Sendable` is safe: libdispatch lets any thread call a source.
    private struct Watched: @unchecked Sendable {
      let source: any DispatchSourceMemoryPressure
    }
  }
#endif
