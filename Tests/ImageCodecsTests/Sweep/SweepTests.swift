#if !canImport(ImageIO)
  import FastImageCache
  import Foundation
  import Testing

  @Suite("A valid file", .timeLimit(.minutes(60)))
  struct SweepTests {
    /// The numbers of cases: a few hundred small ones, or what `Tests/Corpora/sweep` asks for.
    private static let numbers: Range<UInt64> = {
      let wanted = ProcessInfo.processInfo.environment["IMAGECACHE_SWEEP"]?.split(separator: " ")
      guard let numbers = wanted?.compactMap({ UInt64($0) }), numbers.count == 2 else {
        return 0..<600
      }
      return numbers[0]..<numbers[0] + numbers[1]
    }()

    @Test("is stored as its full decode would be", arguments: 0..<4 as Range<UInt64>)
    func equalsFullDecode(part: UInt64) async {
      let resources = LoadResources()
      for number in Self.numbers where number % 4 == part {
        let example = SweepCase(number: number)
        do {
          if let fault = try await example.fault(resources) { Issue.record("\(fault): \(example)") }
        } catch {
          Issue.record("\(error): \(example)")
        }
      }
    }
  }
#endif
