import Foundation

/// A JSON value whose members keep their order, which readers of a report expect and
/// `JSONSerialization` does not promise.
package indirect enum JSONValue: Sendable {
  case integer(Int)
  case number(Double)
  case string(String)
  case bool(Bool)
  case array([JSONValue])
  case object(KeyValuePairs<String, JSONValue>)
  /// An object of members that are computed.
  case members([(String, JSONValue)])
  case null

  /// One line of RFC 8259 text; fractions have six digits, which is a nanosecond where
  /// milliseconds are meant.
  package var text: String {
    switch self {
    case .integer(let number): "\(number)"
    case .number(let number): Self.text(number)
    case .string(let string): Self.quoted(string)
    case .bool(let bool): bool ? "true" : "false"
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .object(let members):
      Self.text(members.map { ($0.key, $0.value) })
    case .members(let members): Self.text(members)
    case .null: "null"
    }
  }

  private static func text(_ members: [(String, JSONValue)]) -> String {
    "{" + members.map { "\(quoted($0.0)): \($0.1.text)" }.joined(separator: ", ") + "}"
  }

  private static func text(_ number: Double) -> String {
    // JSON knows neither infinity nor NaN.
    guard number.isFinite else { return "null" }
    return String(format: "%.6f", number)
  }

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\0"..<" ", "\u{7f}":
        text += "\\u" + String(scalar.value, radix: 16).leftPadded(to: 4).replacing(" ", with: "0")
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
