import CommandSupport
import Foundation
import TableStore
import TestSupport

/// Counts what is left of the images that the processes of a server drew.
struct WorkersMethod: CountedMethod {
  static let name = "workers"
  static let counts = (range: 40...60_000, standard: 10_000)
  static let grammar = makeGrammar(
    summary: "draws with four processes, and counts what is there at the next start",
    count: "images (10000)",
    discussion: """
      Four processes open one table at the same moment and draw a quarter of the images each; one
      of them owns the table. They end in three ways: all killed; all closing, one after the other;
      and killed and replaced while they draw, and all killed in the end. Then one process opens the
      table, and looks for every image whose store had returned. Less than 95 percent fail the
      run.
      """)

  private enum End: String, CaseIterable {
    case killed, closed, replaced
  }

  private struct Worker {
    let child: ChildProcess
    let ledger: Ledger
    let share: Range<Int>

    /// The images of which the store has returned.
    var drawn: Range<Int> {
      let begun = min(ledger.count, share.count)
      let done = begun > 0 && ledger.line(begun - 1).isDone == 0 ? begun - 1 : begun
      return share.lowerBound..<share.lowerBound + done
    }

    var isDone: Bool { ledger.count > share.count }
  }

  private static let workerCount = 4

  let count: Int
  let seed: UInt64
  var plant: Plant?
  private var losesGuests: Bool { plant == .lostGuests }

  enum Plant {
    /// Guest files are gone at the next start, as files without a name would be.
    case lostGuests
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: losesGuests)
    var random = SplitMix64(state: seed)
    for end in End.allCases { try run(end, findings, using: &random) }
    return findings
  }

  private func run(
    _ end: End, _ findings: Findings, using random: inout SplitMix64
  ) throws {
    let folder = try TableFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    var drawn = IndexSet()
    let size = count / Self.workerCount
    var workers = try (0..<Self.workerCount).map { number in
      try start(number, number * size..<(number + 1) * size, in: folder)
    }
    if end == .replaced {
      for _ in 0..<6 {
        pause(microseconds: Int.random(in: 0..<50_000, using: &random))
        let number = Int.random(in: 0..<workers.count, using: &random)
        let worker = workers[number]
        try finish(worker, by: .killed, findings)
        drawn.insert(integersIn: worker.drawn)
        workers[number] = try start(
          number, worker.drawn.upperBound..<worker.share.upperBound, in: folder)
      }
    }
    for worker in workers {
      while !worker.isDone {
        if let ending = worker.child.endingIfAny() {
          throw CommandFailure("A worker ended by \(ending).")
        }
        pause(microseconds: 1000)
      }
    }
    for worker in workers {
      drawn.insert(integersIn: worker.drawn)
      try finish(worker, by: end, findings)
    }
    try look(for: drawn, in: folder, end, findings)
  }

  private func start(_ number: Int, _ share: Range<Int>, in folder: TableFolder) throws -> Worker {
    let ledger = try Ledger(path: ServerWorker.ledgerPath(besides: folder, worker: number))
    ledger.clear()
    let numbers = [number, share.lowerBound, share.upperBound, count]
    let child = try ChildProcess(
      [ChildRole.word, "worker", folder.path] + numbers.map { String($0) })
    return Worker(child: child, ledger: ledger, share: share)
  }

  private func finish(_ worker: Worker, by end: End, _ findings: Findings) throws {
    let expected: ChildProcess.Ending
    if end == .closed {
      worker.ledger.clear()
      expected = .exit(ChildVerdict.done)
    } else {
      worker.child.kill()
      expected = .signal(SIGKILL)
    }
    let ending = worker.child.ending()
    if ending != expected { findings.report(.crash, "a worker ended by \(ending)") }
  }

  /// The next start: one process opens the table.
  private func look(
    for drawn: IndexSet, in folder: TableFolder, _ end: End, _ findings: Findings
  ) throws {
    let catalogue = Catalogue(entities: count, versions: 1)
    if losesGuests {
      for name in try folder.fileNames where name.contains("-guest-") {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      }
    }
    let start = ContinuousClock.now
    let table = try folder.open(slots: count)
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    var found = 0
    for entity in drawn {
      let image = ImageVersion(entity: entity, version: 0)
      guard let entry = table.entry(for: catalogue.key(image)) else { continue }
      found += 1
      if !entry.shows(image) { findings.report(.wrongImage, "\(image), \(end)") }
    }
    table.close()
    findings.count("images drawn", drawn.count)
    findings.count("images there", found)
    if !losesGuests {
      Console.print(
        "workers: \(end): \(found) of \(drawn.count) images there; opened in "
          + String(format: "%.0f ms", milliseconds))
    }
    if found * 100 < drawn.count * 95 {
      findings.report(.lostEntry, "\(drawn.count - found) of \(drawn.count), \(end)")
    }
    let files = try folder.fileNames
    if files.count > 1 { findings.report(.other, "the folder has \(files)") }
  }
}
