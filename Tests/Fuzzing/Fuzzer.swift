import Foundation

/// The attack that `FUZZ_ATTACK` names; libFuzzer keeps the arguments for itself.
private let attack = {
  let name = ProcessInfo.processInfo.environment["FUZZ_ATTACK"] ?? ""
  guard let attack = Attack(rawValue: name) else {
    let known = Attack.allCases.map(\.rawValue).joined(separator: ", ")
    fatalError("FUZZ_ATTACK is \"\(name)\"; there are: \(known).")
  }
  return attack
}()

/// libFuzzer calls this with each input; a trap is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do {
    try attack.run(on: bytes)
  } catch {
    fatalError("\(error)")
  }
  return 0
}

@_silgen_name("LLVMFuzzerMutate")
private func mutate(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

/// Changes an input as libFuzzer does by itself, and makes a PNG's checksums right again, or no
/// code behind them would ever run.
@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(
  _ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32
) -> Int {
  let newCount = mutate(start, count, limit)
  // Now and then the checksums stay wrong, which is an attack too.
  if attack == .png || attack == .pngFrames, seed % 16 != 0 {
    PNGChecksums.repair(UnsafeMutableBufferPointer(start: start, count: newCount))
  }
  return newCount
}
