#if GTK && canImport(CGTK)
  import CGTK
  import FastImageCache
  import Locking

  /// GLib's main loop, turned until something has happened.
  @MainActor enum Loop {
    /// Turns the loop, waiting for events in between, until the condition is true.
    static func turn(until condition: () -> Bool) {
      while !condition() { g_main_context_iteration(nil, 1) }
    }

    /// Turns the loop until a task has its result, which nothing of GTK's may depend on.
    static func wait<Result: Sendable>(for body: @escaping @Sendable () async -> Result) -> Result {
      let result = Lock<Result?>(nil)
      Task.detached(name: "a wait of a window's test") {
        let value = await body()
        result.withLock { $0 = value }
        g_main_context_wakeup(nil)
      }
      while true {
        if let value = result.withLock({ $0 }) { return value }
        g_main_context_iteration(nil, 1)
      }
    }

    /// Turns the loop as long as it has something to do at once.
    static func settle() { while g_main_context_iteration(nil, 0) != 0 {} }

    /// Turns the loop until the cache's statistics fit, at most a number of times.
    ///
    /// - Returns: The last ones.
    static func statistics(
      of cache: ImageCache, until fits: (CacheStatistics) -> Bool
    ) -> CacheStatistics {
      var statistics = wait { await cache.statistics() }
      var turns = 0
      while !fits(statistics), turns < 2000 {
        g_main_context_iteration(nil, 0)
        statistics = wait { await cache.statistics() }
        turns += 1
      }
      return statistics
    }
  }

  extension CacheStatistics {
    var leasedCount: Int { tables.reduce(0) { $0 + $1.leasedCount } }
  }
#endif
