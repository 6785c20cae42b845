extension Duration {
  /// How long a frame is shown, in nanoseconds: as browsers have it, 100 ms instead of less than 11 ms, and a day at
  /// most.
  ///
  /// - Parameter seconds: What the file says.
  static func ofFrame(seconds: Double) -> Duration {
    guard seconds >= 0.011 else { return .milliseconds(100) }
    return .nanoseconds(Int64((min(seconds, 86_400) * 1e9).rounded()))
  }
}
