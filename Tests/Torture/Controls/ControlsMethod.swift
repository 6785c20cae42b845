import CInterposer
import CommandSupport
import TestSupport

/// Plants faults, and checks that each method finds them.
struct ControlsMethod: TortureMethod {
  static let name = "controls"
  static let grammar = makeGrammar(
    summary: "plants faults that the other methods must find",
    discussion: """
      A method that finds nothing proves something only if it would find what is there. Faults are
      planted between the library and the system, never in the library: records are written before
      content, the proof of a slot is shown what it wants to see, records are not erased, an index file
      forgets what a killed process had in hand, synchronising does nothing, a write
      that says it worked writes zeros, everybody gets the lock, an image is looked at after its
      lease, guest files are deleted, descriptors and memory stay behind, originals get other bytes, count
      too early, are kept too long; a server sends another account's image, or an old one. Each line
      says how often the fault was found. Whether a run meets its fault is chance, so one that finds
      nothing is repeated with other seeds; a fault that ten runs do not find fails the method.
      """)

  private struct Control: Sendable {
    let fault: String
    let method: String
    let run: @Sendable (UInt64) async throws -> (found: Int, tries: String)

    init(
      fault: String, method: String,
      run: @escaping @Sendable (UInt64) async throws -> (found: Int, tries: String)
    ) {
      (self.fault, self.method, self.run) = (fault, method, run)
    }

    /// A method that shows the fault as one of some faults, in so many things that it counts.
    init<Method: CountedMethod>(
      _ fault: String, _ method: Method.Type, _ count: Int, _ plant: Method.Plant,
      shownAs faults: Findings.Fault..., in tries: String
    ) {
      self.init(fault: fault, method: Method.name) { seed in
        let findings = try await Method(count: count, seed: seed, plant: plant).run()
        let found = faults.reduce(0) { $0 + findings.faultCount($1) }
        return (found, "\(findings.value(tries)) \(tries)")
      }
    }
  }

  private let seed: UInt64

  init(_ arguments: Arguments, seed: UInt64) throws { self.seed = seed }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed)
    guard interposer_is_available() != 0 else {
      Console.note("controls: calls cannot be stood before here, so that nothing can be planted.")
      return findings
    }
    for control in Self.all {
      var (found, tries, runs) = (0, "", UInt64(0))
      while found == 0, runs < 10 {
        (found, tries) = try await control.run(seed &+ runs)
        runs += 1
      }
      findings.count(found > 0 ? "planted faults found" : "planted faults missed")
      Console.print(
        "\(control.method): \(control.fault): found \(found) times in \(tries), run \(runs)")
      if found == 0 { findings.report(.other, "\(control.method) does not find: \(control.fault)") }
    }
    return findings
  }

  private static let all = [
    Control(fault: "records before content", method: "kill") { seed in
      try kill(.reversedWrites, seed, counting: .other)
    },
    Control(fault: "records before content, content not checked", method: "kill") { seed in
      try kill([.reversedWrites, .deafProof], seed, counting: .wrongImage)
    },
    Control(fault: "claims of the dead forgotten", method: "kill") { seed in
      try kill(.forgottenClaims, seed, counting: .undead)
    },
    Control(
      "content not checked", IndexMethod.self, 300, .deafProof, shownAs: .wrongImage,
      in: "openings"),
    Control(
      "records that stay in free slots", IndexMethod.self, 300, .keptRecords, shownAs: .undead,
      in: "openings"),
    Control(
      "content not checked", PowerMethod.self, 200, .deafProof, shownAs: .wrongImage, in: "images"),
    Control(
      "synchronising does nothing", PowerMethod.self, 200, .noBarriers,
      shownAs: .lostEntry, .undead, in: "images"),
    Control(fault: "writes that write zeros", method: "faults") { seed in
      let findings = Findings("faults", seed: seed, isQuiet: true)
      let fault = FaultsMethod.Fault(name: "a lost write", kind: interposer_zero, value: 0)
      for call in 0..<60 {
        try FaultyWork(findings: findings).run(fault, first: call, last: call)
      }
      return (findings.faultCount, "60 runs")
    },
    Control(
      "leases ignored", RacesMethod.self, 6000, .ignoredLeases, shownAs: .wrongImage,
      in: "images compared"),
    Control(
      "two owners", ProcessesMethod.self, 2000, .grantedLocks, shownAs: .wrongImage, in: "hits"),
    Control(
      "guest files lost", WorkersMethod.self, 1000, .lostGuests, shownAs: .lostEntry,
      in: "images drawn"),
    Control(
      "frames of another load", FramesMethod.self, 20, .mixedFrames, shownAs: .wrongImage,
      in: "animations"),
    Control(
      "images of another account", LoadsMethod.self, 600, .otherAccounts, shownAs: .wrongImage,
      in: "images compared"),
    Control(
      "images of five changes ago", LoadsMethod.self, 600, .oldVersions, shownAs: .undead,
      in: "images compared"),
    Control(
      "originals done before they are written", OriginalKillMethod.self, 20, .early,
      shownAs: .lostEntry, in: "kills"),
    Control(
      "originals with another's bytes", OriginalKillMethod.self, 20, .swapped,
      shownAs: .wrongImage, in: "kills"),
    Control(
      "a limit that is too large", OriginalKillMethod.self, 20, .large, shownAs: .other,
      in: "kills"),
    Control(
      "bodies not checked", OriginalPowerMethod.self, 40, .rightChecksums, shownAs: .wrongImage,
      in: "images"),
    Control(
      "flushing does nothing", OriginalPowerMethod.self, 100, .noBarriers, shownAs: .undead,
      in: "images"),
    Control(
      "refused originals count as kept", OriginalFaultsMethod.self, 20, .ignoredRefusals,
      shownAs: .lostEntry, in: "faulty runs"),
    Control(
      "originals with another's bytes", OriginalProcessesMethod.self, 10, .swapped,
      shownAs: .wrongImage, in: "processes killed"),
    Control(
      "a limit that is too large", OriginalProcessesMethod.self, 10, .large, shownAs: .other,
      in: "processes killed"),
    Control(fault: "a descriptor and a megabyte left behind", method: "soak") { seed in
      let leak = SoakMethod.Leak(byteCount: 1 << 20, hasDescriptor: true)
      return try await soak(leak, seed)
    },
    // Too little to show in private memory: only the blocks tell.
    Control(fault: "64 KiB left behind", method: "soak") { seed in
      try await soak(SoakMethod.Leak(byteCount: 64 << 10), seed)
    },
  ]

  private static func soak(
    _ leak: SoakMethod.Leak, _ seed: UInt64
  ) async throws -> (found: Int, tries: String) {
    let findings = try await SoakMethod(planting: leak, seed: seed).run()
    return (findings.faultCount(.other), "\(findings.value("turns")) turns")
  }

  private static func kill(
    _ plants: KillPlants, _ seed: UInt64, counting fault: Findings.Fault
  ) throws -> (found: Int, tries: String) {
    let findings = Findings("kill", seed: seed, isQuiet: true)
    var random = SplitMix64(state: seed)
    try ScriptedKills(findings: findings, plants: plants).run(upTo: 150, using: &random)
    return (findings.faultCount(fault), "\(findings.value("kills")) kills")
  }
}
