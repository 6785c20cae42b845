#if GTK && canImport(CGTK)
  import CommandSupport
  import Foundation

  /// One thing that happens in a window.
  struct Act {
    let name: String
    let summary: String
    let play: @MainActor (Script, Findings) throws -> Void
  }

  /// A fault that is planted beside the library, which an act must find.
  enum Plant: String, CaseIterable {
    /// A reused cell is given the image of another row.
    case wrongImage = "wrong-image"
    /// A cell is given nothing.
    case blankCell = "blank-cell"
    /// A lease lasts longer than its cell can be seen.
    case keptLease = "kept-lease"
    /// Each window leaves memory behind.
    case leak
    /// Results reach GTK in one go, so that it does not draw meanwhile.
    case noBudget = "no-budget"
    /// Stickers leave the time of their animation.
    case outOfStep = "out-of-step"
  }

  /// What a call of the program wants.
  struct Script {
    let acts: [Act]
    let seed: UInt64
    let frameCount: Int
    let roundCount: Int
    let timeLimit: UInt32
    let plant: Plant?
    /// Where the window of the act `fling` is drawn to at its end, as PNG, and that of `stickers` at three moments.
    let imageFile: String?
    /// The type of the windows' renderer, and how many pixels they have in a point; `nil` for any.
    let expectedRenderer: String?
    let expectedScale: Int?
    let isHelpWanted: Bool

    private static let allActs: [Act] = [
      .styles, .widgets, .cells, .rooms, .traits, .lives, .scales, .fling, .misses, .replacing,
      .resizing, .retrying,
      .closing, .rounds, .delivery, .stickers, .mainActor,
    ]

    private static let grammar = ArgumentGrammar(
      command: "gtk-windows", summary: "shows images in real windows and compares every pixel",
      operands: [
        .init("ACT", isRequired: false, isRepeatable: true, help: "acts to play; all by default")
      ],
      options: [
        .value("--seed", "N", help: "repeats a run; by chance by default"),
        .value("--frames", "N", help: "frames of each act that scrolls; 240 by default"),
        .value("--rounds", "N", help: "windows that `rounds` opens and closes; 200 by default"),
        .value("--seconds", "N", help: "ends a run that takes longer; 300 by default"),
        .value("--plant", "NAME", help: "plants a fault, which makes the run fail"),
        .value(
          "--image", "FILE",
          help: "draws the window of `fling` to a PNG, and that of `stickers` to three"),
        .value(
          "--expect-renderer", "TYPE",
          help: "fails if windows are drawn by another, as GskGLRenderer"),
        .value("--expect-scale", "N", help: "fails if a point has another number of pixels"),
      ],
      discussion: """
        Acts:
        \(allActs.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))

        Planted faults: \(Plant.allCases.map(\.rawValue).joined(separator: ", ")).

        Exit codes: 0 no fault, 1 faults, 2 no display or wrong arguments.
        """)

    static var help: String { grammar.help }

    init(_ words: some Sequence<String>) throws {
      let arguments = try Arguments(words, grammar: Self.grammar)
      isHelpWanted = arguments.isHelpWanted
      let known = Self.allActs
      acts =
        try arguments.operands.isEmpty
        ? known
        : arguments.operands.map { name in
          guard let act = known.first(where: { $0.name == name }) else {
            throw UsageError("There is no act \"\(name)\".")
          }
          return act
        }
      let given = try arguments.integer("--seed", in: 0...Int.max)
      seed = given.map { UInt64($0) } ?? UInt64.random(in: 0...1 << 32)
      frameCount = try arguments.integer("--frames", in: 1...1_000_000) ?? 240
      roundCount = try arguments.integer("--rounds", in: 40...1_000_000) ?? 200
      timeLimit = UInt32(try arguments.integer("--seconds", in: 1...86_400) ?? 300)
      plant = try arguments.value("--plant").map { name in
        guard let plant = Plant(rawValue: name) else {
          throw UsageError("There is no fault \"\(name)\".")
        }
        return plant
      }
      imageFile = arguments.value("--image")
      expectedRenderer = arguments.value("--expect-renderer")
      expectedScale = try arguments.integer("--expect-scale", in: 1...8)
    }
  }
#endif
