import CommandSupport

/// Counts of stored, present and failed images of a folder.
struct WarmSummary {
  enum Outcome: Sendable {
    /// With what is left out of the image.
    case alreadyThere([String])
    case stored([String])
    case failed(String)
    case cancelled
  }

  let imageCount: Int
  private(set) var alreadyThereCount = 0
  private(set) var storedCount = 0
  private(set) var failures: [(path: String, reason: String)] = []
  private var notes: [(path: String, note: String)] = []

  private let unreadableCount: Int

  /// - Parameter unreadable: Files that may be images, besides those that are.
  init(imageCount: Int, unreadable: [PhotoFolder.LeftOut]) {
    self.imageCount = imageCount
    unreadableCount = unreadable.count
    failures = unreadable.map { (path: $0.path, reason: $0.reason) }
  }

  /// Of the images.
  var doneCount: Int { alreadyThereCount + storedCount + failures.count - unreadableCount }

  mutating func add(_ outcome: Outcome, path: String) {
    switch outcome {
    case .alreadyThere(let notes), .stored(let notes):
      self.notes += notes.map { (path: path, note: $0) }
      if case .stored = outcome { storedCount += 1 } else { alreadyThereCount += 1 }
    case .failed(let reason): failures.append((path: path, reason: reason))
    case .cancelled: break
    }
  }

  func tell() {
    for (path, note) in notes.sorted(by: { $0.path < $1.path }) {
      Console.note("kept \(path): \(note)".printable)
    }
    for failure in failures.sorted(by: { $0.path < $1.path }) {
      Console.note("failed \(failure.path): \(failure.reason)".printable)
    }
    Console.print(
      "\(storedCount) stored, \(alreadyThereCount) already there, \(failures.count) failed")
    if doneCount < imageCount {
      Console.note("\(imageCount - doneCount) of \(imageCount) left; the next call goes on.")
    }
  }
}
