import FastImageCache
import Foundation
import Locking
import TestSupport

/// A source of images that change, whose answers come in pieces, break off at every byte, and go on later.
final class LoadServer: NeedNamingSource {
  /// Faults that a run is to find.
  enum Plant: Sendable {
    /// Now and then, the image of another account.
    case otherAccounts
    /// Now and then, what the image was five changes ago.
    case oldVersions
  }

  private struct State {
    var random: SplitMix64
    var versions = LoadImage.numbers.map { _ in 5 }
    /// How many answers of each number have broken off: the next one does a byte later.
    var cuts = LoadImage.numbers.map { _ in 0 }
    var files: [LoadImage: Data] = [:]
  }

  /// One answer, as the server decides on it.
  private struct Plan {
    let image: LoadImage
    let file: Data
    let terms: ResponseMetadata
    /// Where it breaks off.
    let cut: Int?
    let pieceCount: Int
  }

  private let findings: Findings
  private let plant: Plant?
  private let state: Lock<State>

  init(_ findings: Findings, seed: UInt64, plant: Plant?) {
    (self.findings, self.plant) = (findings, plant)
    state = Lock(State(random: SplitMix64(state: seed)))
  }

  func need(for url: URL) -> LoadNeed { url.scheme == "https" ? .network : .local }

  /// How often an image has changed.
  func version(of number: Int) -> Int { state.withLock { $0.versions[number] } }

  func change(_ number: Int) { state.withLock { $0.versions[number] += 1 } }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    findings.count("fetches")
    guard let number = Int(request.url.lastPathComponent) else { throw URLError(.badURL) }
    let plan = try plan(for: number, LoadKind(request))
    let known = request.known.flatMap { $0.terms.entityTag == plan.terms.entityTag ? $0 : nil }
    if known?.isWhole == true {
      findings.count("unchanged")
      return .unchanged(plan.terms)
    }
    if known != nil { findings.count("resumptions") }
    let arrival = request.begin(plan.terms, continuing: known)
    let end = plan.cut.map { max($0, arrival.byteCount) } ?? plan.file.count
    while arrival.byteCount < end {
      let next = min(end, arrival.byteCount + max(1, plan.file.count / plan.pieceCount))
      try arrival.append(plan.file[arrival.byteCount..<next])
      request.report(ImageSourceProgress(receivedByteCount: arrival.byteCount))
      try Task.checkCancellation()
      await Task.yield()
    }
    guard plan.cut == nil || arrival.byteCount == plan.file.count else {
      findings.count("cuts")
      throw ImageSourceError.network("cut")
    }
    return .arrived(arrival)
  }

  private func plan(for number: Int, _ kind: LoadKind) throws -> Plan {
    try state.withLock { state in
      let isFaulty = plant != nil && Int.random(in: 0..<10, using: &state.random) == 0
      var (kind, version) = (kind, state.versions[number])
      if isFaulty, plant == .otherAccounts { kind = kind == .account ? .otherAccount : .account }
      if isFaulty, plant == .oldVersions { version -= 5 }
      let image = LoadImage(number: number, kind: kind, version: version)
      let file = try state.files[image] ?? image.file()
      state.files[image] = file
      // Without a length there are previews whatever the rate, and with one it can be continued.
      var fields = ["ETag": "\"\(number)-\(kind)-\(version)\""]
      if Bool.random(using: &state.random) { fields["Content-Length"] = "\(file.count)" }
      fields["Cache-Control"] = number < 4 ? "max-age=3600" : "max-age=0"
      var cut: Int?
      if Int.random(in: 0..<3, using: &state.random) == 0 {
        cut = state.cuts[number] % file.count
        state.cuts[number] += 1
      }
      return Plan(
        image: image, file: file, terms: ResponseMetadata(fields: fields, received: Date()),
        cut: cut, pieceCount: Int.random(in: 1...30, using: &state.random))
    }
  }
}
