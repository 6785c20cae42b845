import CommandSupport
import Foundation

/// One way of trying to break the promise that a hit is the right image or a miss.
protocol TortureMethod: Sendable {
  static var name: String { get }
  static var grammar: ArgumentGrammar { get }

  /// - Throws: ``UsageError`` for arguments that fit the grammar but make no sense together.
  init(_ arguments: Arguments, seed: UInt64) throws

  /// Runs the method, and returns its findings.
  func run() async throws -> Findings
}

/// A method that takes a count, and in which a fault can be planted.
protocol CountedMethod: TortureMethod {
  associatedtype Plant: Sendable

  /// What the count may be, and what it is where no argument names it.
  static var counts: (range: ClosedRange<Int>, standard: Int) { get }

  init(count: Int, seed: UInt64, plant: Plant?)
}

extension CountedMethod {
  init(_ arguments: Arguments, seed: UInt64) throws {
    let count = try arguments.integer("--count", in: Self.counts.range) ?? Self.counts.standard
    self.init(count: count, seed: seed, plant: nil)
  }
}

extension TortureMethod {
  /// The grammar of a method that takes a count, a seed, and perhaps more.
  static func makeGrammar(
    summary: String, count: String? = nil, options: [ArgumentGrammar.Option] = [],
    discussion: String
  ) -> ArgumentGrammar {
    let counting = count.map { [ArgumentGrammar.Option.value("--count", "N", help: $0)] } ?? []
    return ArgumentGrammar(
      command: "imagecache-torture \(name)", summary: summary,
      options: counting + options + [
        .value("--seed", "N", help: "repeats a run as far as the system's timing allows (random)")
      ],
      discussion: discussion + """


        Files go to the system's temporary folder; TMPDIR names another. The exit status is 1 when
        a wrong image, a crash, a lost entry or any other fault was seen.
        """)
  }
}
