#if os(Linux)
  import Glibc

  typealias LimitedResource = __rlimit_resource

  /// `setrlimit(2)`, whose first argument every C library declares in its own way.
  enum LimitedResources {
    /// Sets the soft limit, to the hard one for `nil`; false where it is refused.
    static func set(_ resource: LimitedResource, _ value: rlim_t?) -> Bool {
      let number = __rlimit_resource_t(resource.rawValue)
      var limits = rlimit()
      guard getrlimit(number, &limits) == 0 else { return false }
      limits.rlim_cur = value ?? limits.rlim_max
      return setrlimit(number, &limits) == 0
    }
  }
#endif
