import CBenchPeers

/// The cores that the process may run on.
enum Cores {
  /// Holds all threads, and those that they start, to the first of the cores that the process began
  /// with; Linux only.
  static func hold(to count: Int) throws(BenchFailure) {
    let code = bench_use_cores(CInt(count))
    guard code == 0 else {
      throw BenchFailure(description: "The system holds no process to a core (error \(code)).")
    }
  }

  /// Lets them run on all cores of the beginning again.
  static func release() { bench_use_cores(.max) }
}
