extension ImageCache {
  /// Writes the events of every cache of this process to the log of the system until the task is cancelled: for
  /// development.
  ///
  /// ```swift
  /// let log = ImageCache.logEvents()
  /// // …
  /// log.cancel()
  /// ```
  ///
  /// On Apple platforms that is the unified log, of the subsystem `FastImageCache` and the categories `requests`,
  /// `loads`, `tables` and `originals`. Instruments shows each load of a request as an interval of `OSSignposter`, and
  /// what a load fetched and decoded as events. Addresses are private there, unless a debugger is attached. On Linux
  /// lines go to standard error, as `IMAGECACHE_LOG=debug` in the environment has them.
  ///
  /// Cost: while it runs, each hit is an event of ``allEvents(bufferSize:)``. Times are those of the listener, which
  /// hears of an event a moment later; ``LoadReport`` has exact ones.
  ///
  /// - Returns: The task that listens.
  @discardableResult public static func logEvents() -> Task<Void, Never> {
    // Begun here, so that no event after this call is missed.
    let events = allEvents()
    return Task.detached(name: "event log", priority: .utility) {
      var log = SystemLog()
      for await event in events { log.take(event) }
    }
  }
}
