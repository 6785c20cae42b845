import Foundation

/// What a source has pictures of: one address, or an entity that brings its own.
struct Subject: Hashable, Sendable {
  enum Scheme: String, CaseIterable, Sendable {
    case file, data, http
    /// A closure answers.
    case play
    /// A closure answers that asks the cache for another picture first.
    case nested
    /// The entity answers.
    case own
  }

  let number: Int
  let scheme: Scheme
  /// Whether its source never fails, lies or breaks off.
  let isSteady: Bool
  let fileKind: MarkFiles.Kind
  /// What the server says of how long its answer may be believed.
  let cacheControl: String?

  static let all: [Subject] = {
    // The first file's kind is chosen so that each scheme has an animation.
    let plan: [(Scheme, steady: Int, flaky: Int, first: Int)] = [
      (.http, 8, 6, 0), (.file, 5, 0, 0), (.data, 4, 0, 1), (.play, 4, 2, 0), (.nested, 2, 0, 3),
      (.own, 3, 1, 2),
    ]
    let terms = ["max-age=3600", "max-age=0", nil, "max-age=60", "no-store", "no-cache"]
    var subjects: [Subject] = []
    for (scheme, steady, flaky, first) in plan {
      for index in 0..<steady + flaky {
        subjects.append(
          Subject(
            number: subjects.count, scheme: scheme, isSteady: index < steady,
            fileKind: MarkFiles.Kind.allCases[(first + index) % MarkFiles.Kind.allCases.count],
            cacheControl: terms[index % terms.count]))
      }
    }
    return subjects
  }()

  var isAnimated: Bool { fileKind == .animation }
}
