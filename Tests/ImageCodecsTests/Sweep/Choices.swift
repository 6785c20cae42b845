import TestSupport

/// Choices that follow from a number.
struct Choices {
  private var random: SplitMix64
  /// How often of ten times a choice is an unusual one: faults lie where a few things are unusual, and where many are.
  private let oddity: Int

  /// The number and every choice, for a message.
  private(set) var trail: String

  init(number: UInt64) {
    random = SplitMix64(state: number)
    oddity = [1, 1, 4, 10][Int.random(in: 0..<4, using: &random)]
    trail = "case \(number):"
  }

  /// One of some values, of which the first is the usual one.
  mutating func pick<Value>(_ label: String, _ values: [Value]) -> Value {
    Int.random(in: 0..<10, using: &random) < oddity
      ? any(label, of: values) : any(label, of: [values[0]])
  }

  /// False as a rule.
  mutating func pick(_ label: String) -> Bool { pick(label, [false, true]) }

  /// One of some values, each as often as the others.
  mutating func any<Value>(_ label: String, of values: [Value]) -> Value {
    let value = values[Int.random(in: 0..<values.count, using: &random)]
    trail += " \(label) \(value)"
    return value
  }
}
