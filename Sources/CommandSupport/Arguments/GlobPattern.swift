/// A pattern for whole texts: `*` stands for any characters, `?` for one.
///
/// Characters are compared as the code points that they are made of, as ids are.
package struct GlobPattern: Sendable {
  private let pattern: [Unicode.Scalar]

  package init(_ text: String) { pattern = Array(text.unicodeScalars) }

  package func matches(_ text: String) -> Bool {
    let text = Array(text.unicodeScalars)
    var (place, position) = (0, 0)
    // The last star, and the end of the characters that it stands for so far. A later star may stand
    // for all that an earlier one could take more.
    var star: (place: Int, end: Int)?
    while position < text.count {
      if place < pattern.count, pattern[place] == "*" {
        star = (place, position)
        place += 1
      } else if place < pattern.count, [text[position], "?"].contains(pattern[place]) {
        (place, position) = (place + 1, position + 1)
      } else if let last = star {
        star = (last.place, last.end + 1)
        (place, position) = (last.place + 1, last.end + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == "*" }
  }
}
