import Foundation

extension Int {
  /// A number of bytes for people: `640 B`, `12.5 kB`, `160 MB`; a kB has 1024 bytes.
  package var byteText: String {
    guard magnitude >= 1024 else { return "\(self) B" }
    var value = Double(self)
    var unit = ""
    for next in ["kB", "MB", "GB", "TB", "PB", "EB"] where value.magnitude >= 1023.5 || unit == "" {
      value /= 1024
      unit = next
    }
    return String(format: value.magnitude < 99.95 ? "%.1f %@" : "%.0f %@", value, unit)
  }
}

extension Double {
  /// Milliseconds with three significant digits: `0.0213`, `1.14`, `115`.
  package var millisecondText: String {
    let digits = magnitude < 0.1 ? 4 : magnitude < 1 ? 3 : magnitude < 100 ? 2 : 0
    return String(format: "%.\(digits)f", self)
  }
}
