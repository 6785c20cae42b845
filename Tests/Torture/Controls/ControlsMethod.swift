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
      that says it worked writes zeros, everybody gets the lock, a photo is looked at after its
      lease, guest files are deleted, descriptors and memory stay behind, originals get other bytes, count
      too early, are kept too long; a server sends another account's photo, or an old one. Each line
      says how often the fault was found. Whether a run meets its fault is chance, so one that finds
      nothing is repeated with other seeds; a fault that ten runs do not find fails the method.
      """)

  private struct Control: Sendable {
    let fault: String
    let method: String
    let run: @Sendable (UInt64) async throws -> (found: Int, tries: String)
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
    Control(fault: "content not checked", method: "index") { seed in
      try await index(.deafProof, seed, counting: .wrongImage)
    },
    Control(fault: "records that stay in free slots", method: "index") { seed in
      try await index(.keptRecords, seed, counting: .undead)
    },
    Control(fault: "content not checked", method: "power") { seed in
      let method = PowerMethod(count: 200, seed: seed, plant: .deafProof)
      let findings = try await method.run()
      return (findings.faultCount(.wrongImage), "\(findings.value("images")) images")
    },
    Control(fault: "synchronising does nothing", method: "power") { seed in
      let findings = try await PowerMethod(count: 200, seed: seed, plant: .noBarriers).run()
      return (
        findings.faultCount(.lostEntry) + findings.faultCount(.undead),
        "\(findings.value("images")) images"
      )
    },
    Control(fault: "writes that write zeros", method: "faults") { seed in
      let findings = Findings("faults", seed: seed, isQuiet: true)
      let fault = FaultsMethod.Fault(name: "a lost write", kind: interposer_zero, value: 0)
      for call in 0..<60 {
        try FaultyWork(findings: findings).run(fault, first: call, last: call)
      }
      return (findings.faultCount, "60 runs")
    },
    Control(fault: "leases ignored", method: "races") { seed in
      let findings = try await RacesMethod(count: 6000, seed: seed, ignoresLeases: true).run()
      return (
        findings.faultCount(.wrongImage), "\(findings.value("photos compared")) comparisons"
      )
    },
    Control(fault: "two owners", method: "processes") { seed in
      let findings = try await ProcessesMethod(count: 2000, seed: seed, grantsLocks: true).run()
      return (findings.faultCount(.wrongImage), "\(findings.value("hits")) hits")
    },
    Control(fault: "guest files lost", method: "workers") { seed in
      let findings = try await WorkersMethod(count: 1000, seed: seed, losesGuests: true).run()
      let (there, drawn) = (findings.value("images there"), findings.value("images drawn"))
      return (findings.faultCount(.lostEntry), "3 starts, \(there) of \(drawn) images there")
    },
    Control(fault: "frames of another load", method: "frames") { seed in
      let findings = try await FramesMethod(count: 20, seed: seed, isMixed: true).run()
      return (findings.faultCount(.wrongImage), "\(findings.value("animations")) animations")
    },
    Control(fault: "images of another account", method: "loads") { seed in
      try await load(.otherAccounts, seed, counting: .wrongImage)
    },
    Control(fault: "images of five changes ago", method: "loads") { seed in
      try await load(.oldVersions, seed, counting: .undead)
    },
    Control(fault: "originals done before they are written", method: "originals-kill") { seed in
      try await killOriginals(.early, seed, counting: .lostEntry)
    },
    Control(fault: "originals with another's bytes", method: "originals-kill") { seed in
      try await killOriginals(.swapped, seed, counting: .wrongImage)
    },
    Control(fault: "a limit that is too large", method: "originals-kill") { seed in
      try await killOriginals(.large, seed, counting: .other)
    },
    Control(fault: "bodies not checked", method: "originals-power") { seed in
      let method = OriginalPowerMethod(count: 40, seed: seed, plant: .rightChecksums)
      let findings = try await method.run()
      return (findings.faultCount(.wrongImage), "\(findings.value("images")) images")
    },
    Control(fault: "flushing does nothing", method: "originals-power") { seed in
      let findings = try await OriginalPowerMethod(count: 100, seed: seed, plant: .noBarriers).run()
      return (findings.faultCount(.undead), "\(findings.value("images")) images")
    },
    Control(fault: "refused originals count as kept", method: "originals-faults") { seed in
      let method = OriginalFaultsMethod(count: 20, seed: seed, plant: .ignoredRefusals)
      let findings = try await method.run()
      return (findings.faultCount(.lostEntry), "\(findings.value("faulty runs")) runs")
    },
    Control(fault: "originals with another's bytes", method: "originals-processes") { seed in
      try await shareOriginals(.swapped, seed, counting: .wrongImage)
    },
    Control(fault: "a limit that is too large", method: "originals-processes") { seed in
      try await shareOriginals(.large, seed, counting: .other)
    },
    Control(fault: "a descriptor and a megabyte left behind", method: "soak") { seed in
      let leak = SoakMethod.Leak(byteCount: 1 << 20, hasDescriptor: true)
      return try await soak(leak, seed)
    },
    // Too little to show in private memory: only the blocks tell.
    Control(fault: "64 KiB left behind", method: "soak") { seed in
      try await soak(SoakMethod.Leak(byteCount: 64 << 10), seed)
    },
  ]

  private static func index(
    _ plant: IndexMethod.Plant, _ seed: UInt64, counting fault: Findings.Fault
  ) async throws -> (found: Int, tries: String) {
    let findings = try await IndexMethod(count: 300, seed: seed, plant: plant).run()
    return (findings.faultCount(fault), "\(findings.value("openings")) openings")
  }

  private static func load(
    _ plant: LoadServer.Plant, _ seed: UInt64, counting fault: Findings.Fault
  ) async throws -> (found: Int, tries: String) {
    let findings = try await LoadsMethod(count: 600, seed: seed, plant: plant).run()
    return (findings.faultCount(fault), "\(findings.value("photos compared")) comparisons")
  }

  private static func killOriginals(
    _ plant: OriginalWorker.Plants, _ seed: UInt64, counting fault: Findings.Fault
  ) async throws -> (found: Int, tries: String) {
    let findings = try await OriginalKillMethod(count: 20, seed: seed, plants: plant).run()
    return (findings.faultCount(fault), "\(findings.value("kills")) kills")
  }

  private static func shareOriginals(
    _ plant: OriginalWorker.Plants, _ seed: UInt64, counting fault: Findings.Fault
  ) async throws -> (found: Int, tries: String) {
    let findings = try await OriginalProcessesMethod(count: 10, seed: seed, plants: plant).run()
    return (findings.faultCount(fault), "\(findings.value("processes killed")) processes killed")
  }

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
