import CommandSupport

extension Distribution {
  /// One quantity divided by another, round by round; rounds that lack one of them, or in which the other
  /// is zero, are left out.
  init(_ values: [Double], by others: [Double]) {
    self.init(zip(values, others).filter { $1 != 0 }.map { $0 / $1 })
  }
}
