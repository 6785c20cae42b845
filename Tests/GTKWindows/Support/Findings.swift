#if GTK && canImport(CGTK)
  import CommandSupport

  /// What an act counted, and the faults that it found.
  @MainActor final class Findings {
    /// Beyond these, faults are counted only.
    private static let reportedCount = 8

    private let act: String
    private var counts: [(name: String, value: Int)] = []
    private(set) var faultCount = 0

    init(_ act: String) { self.act = act }

    func count(_ name: String, _ number: Int = 1) {
      if let index = counts.firstIndex(where: { $0.name == name }) {
        counts[index].value += number
      } else {
        counts.append((name, number))
      }
    }

    func expect(_ isTrue: Bool, _ fault: @autoclosure () -> String) {
      guard !isTrue else { return }
      faultCount += 1
      if faultCount <= Self.reportedCount { Console.note("\(act): fault: \(fault())") }
    }

    var summary: String {
      let parts = counts.map { "\($0.value) \($0.name)" } + ["\(faultCount) faults"]
      return "\(act): \(parts.joined(separator: ", "))"
    }
  }
#endif
