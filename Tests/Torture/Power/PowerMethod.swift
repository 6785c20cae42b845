import CommandSupport
import Foundation
import TableStore
import TestSupport

/// Models power cuts, and opens the files that the device may hold.
struct PowerMethod: CountedMethod {
  static let name = "power"
  static let counts = (range: 1...10_000_000, standard: 1000)
  static let grammar = makeGrammar(
    summary: "opens tables as a device may hold them after a power cut",
    count: "images to open (1000)",
    discussion: """
      A table is stored to, removed from, emptied, flushed and opened again, and all that it tells
      the system is kept. The power goes after any of these calls. Of each sector, or of each page,
      an image has any version since the file was last synchronised, sometimes torn, in every eighth
      image sometimes garbage; each name leads to any file that had it since the folder was last
      synchronised, or to none. Every hit is compared with what its key says. What a flush() has promised, and
      nothing has touched since, must be there; what was gone at a flush() must not be back.
      """)

  private static let stepCount = 60
  private static let imagesPerSession = 50

  /// Faults that a run is to find.
  enum Plant {
    /// Content is not checked before it is shown.
    case deafProof
    /// Synchronising does nothing.
    case noBarriers
  }

  let count: Int
  let seed: UInt64
  var plant: Plant?

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    let proof = plant == .deafProof ? try DeafProof(PowerSession.catalogue) : nil
    var random = SplitMix64(state: seed)
    let folder = try TableFolder()
    while findings.value("images") < count {
      let session = try PowerSession(stepCount: Self.stepCount, using: &random)
      let imageCount = min(Self.imagesPerSession, count - findings.value("images"))
      try run(session, imageCount, in: folder, proof, findings, using: &random)
    }
    return findings
  }

  private func run(
    _ session: PowerSession, _ imageCount: Int, in folder: TableFolder, _ proof: DeafProof?,
    _ findings: Findings, using random: inout SplitMix64
  ) throws {
    let events = session.journal.events
    // Before, there is hardly a file to open.
    let cuts = (0..<imageCount).map { _ in Int.random(in: 8...events.count, using: &random) }
    var device = Device(ignoresPromises: plant == .noBarriers)
    var taken = 0
    for cut in cuts.sorted() {
      while taken < cut {
        device.take(events[taken])
        taken += 1
      }
      let (files, isOrdinary) = device.image(using: &random)
      folder.clear()
      try FileManager.default.putFiles(files, into: folder.path)
      findings.count("images")
      look(
        in: folder, session.history.expectation(at: cut), isOrdinary: isOrdinary, proof, findings,
        "cut after call \(cut) of a session")
    }
  }

  private func look(
    in folder: TableFolder, _ expectation: PowerExpectation, isOrdinary: Bool, _ proof: DeafProof?,
    _ findings: Findings, _ context: @autoclosure () -> String
  ) {
    guard let table = try? folder.open(slots: PowerSession.slots) else {
      findings.report(.other, "the image cannot be opened, \(context())")
      return
    }
    let catalogue = PowerSession.catalogue
    var found: Set<ImageVersion> = []
    for photo in catalogue.images {
      let key = catalogue.key(photo)
      let answer = proof.map { $0.answering(photo) { table.entry(for: key) } }
      guard let entry = answer ?? table.entry(for: key) else { continue }
      findings.count("hits")
      found.insert(photo)
      if !entry.shows(photo) { findings.report(.wrongImage, "\(photo), \(context())") }
      if !expectation.allows(photo) { findings.report(.undead, "\(photo), \(context())") }
    }
    findings.count("torn slots refused", table.statistics.damageCount)
    if isOrdinary {
      findings.count("covered entries", expectation.covered.count)
      for photo in expectation.covered where !found.contains(photo) {
        findings.report(.lostEntry, "\(photo), \(context())")
      }
    }
    table.close()
  }
}
