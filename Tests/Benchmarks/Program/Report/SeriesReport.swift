import Foundation

/// One run, or several runs of the same scenarios, each in a process of its own.
struct SeriesReport: Codable {
  var runs: [RunReport]

  init(_ runs: [RunReport] = []) { self.runs = runs }

  /// - Parameter json: All that a process wrote to its standard output.
  init(json: Data) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    self = try decoder.decode(Self.self, from: json)
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// In the order in which the first run that has a line has it.
  var lines: [SeriesLine] {
    var lines: [SeriesLine] = []
    for run in runs {
      // A scenario may have several lines of one name.
      var taken: Set<Int> = []
      for measure in run.measures {
        let known = lines.indices.first { !taken.contains($0) && lines[$0].isSame(as: measure) }
        if let known {
          lines[known].measures.append(measure)
        } else {
          lines.append(SeriesLine(measures: [measure]))
        }
        taken.insert(known ?? lines.count - 1)
      }
    }
    return lines
  }
}
