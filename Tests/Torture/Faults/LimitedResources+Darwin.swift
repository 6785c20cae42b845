#if canImport(Darwin)
  import Darwin

  typealias LimitedResource = Int32

  /// `setrlimit(2)`, whose first argument every C library declares in its own way.
  enum LimitedResources {
    /// Sets the soft limit, to the hard one for `nil`; false where it is refused.
    static func set(_ resource: LimitedResource, _ value: rlim_t?) -> Bool {
      var limits = rlimit()
      guard getrlimit(resource, &limits) == 0 else { return false }
      limits.rlim_cur = value ?? limits.rlim_max
      return setrlimit(resource, &limits) == 0
    }
  }
#endif
