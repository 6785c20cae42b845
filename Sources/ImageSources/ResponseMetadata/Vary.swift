import Foundation
import TableStore

/// The request fields that an answer depends on: RFC 9110 section 12.5.5.
struct Vary: Hashable, Sendable {
  /// Lower-case names in order, each once; `nil` for `*`, which depends on more than fields.
  let names: [String]?

  static let everything = Vary(names: nil)

  /// Reads a field; one that is no list of names depends on everything.
  init(_ text: String) {
    var names: Set<String> = []
    var reader = FieldReader(text)
    while !reader.isAtEnd {
      reader.skipSpace()
      // A list may have empty elements: RFC 9110 section 5.6.1.2.
      if reader.isAtEnd || reader.take(",") { continue }
      let name = reader.token()
      reader.skipSpace()
      guard let name, name != "*", reader.isAtEnd || reader.take(",") else {
        self = .everything
        return
      }
      names.insert(name)
    }
    self.init(names: names.sorted())
  }

  private init(names: [String]?) { self.names = names }

  /// A field that says the same; one without names is a list with nothing in it.
  var text: String {
    guard let names else { return "*" }
    return names.isEmpty ? "," : names.joined(separator: ",")
  }

  /// The fields that tell accounts apart, whether or not a server names them.
  private static let credentials = Vary(names: ["authorization", "cookie"])

  /// As ``digest(of:)``, of the fields that tell accounts apart; empty where the request has none of them.
  static func credentialDigest(of fields: [String: String]) -> String {
    let hasAny = fields.keys.contains { credentials.names?.contains($0.lowercased()) == true }
    return hasAny ? credentials.digest(of: fields) : ""
  }

  /// A word that tells apart requests whose answers may differ; empty where none do.
  ///
  /// - Parameter fields: Those of the request, by name in any case.
  func digest(of fields: [String: String]) -> String {
    guard let names, !names.isEmpty else { return "" }
    var values: [String: [String]] = [:]
    for (name, value) in fields { values[name.lowercased(), default: []].append(value) }
    // No header field holds these two bytes, so different requests give different bytes here. Fields
    // are secrets at times, and this stands on disk: hence a hash that nobody turns back.
    let text = names.map { name in
      ([name] + values[name, default: []].sorted()).joined(separator: "\n")
    }
    let hash = SHA256.hash(Array(text.joined(separator: "\0").utf8))
    return Data(hash.prefix(16)).base64EncodedString()
  }
}

/// The fields of a request that its answer depends on, as hashes.
struct RequestDigest: Hashable, Sendable {
  /// Of the fields that `Vary` names; empty where it names none.
  var varying = ""
  /// Of the fields that tell accounts apart; empty where the request had none, or the answer is for all.
  var credentials = ""
}
