import Foundation
import Testing

@Suite("A folder of the library")
struct FolderTests {
  /// Lowest first. `Cache` stands above all others, its own folders above it.
  private static let folders =
    """
    Model Model/Images Model/Options Observation Tables Originals Memory Registry Rendering \
    Animations Previews Loads Cache Cache/Entries Cache/Lookup Cache/Prefetching Cache/Streams
    """.split(separator: " ").map(String.init)

  @Test("uses no type of a folder above it")
  func usesLowerFolders() throws {
    let root = "Sources/FastImageCache/"
    var codes: [(path: String, floor: Int, code: String)] = []
    var floors: [Substring: Int] = [:]
    // Names of nested types occur twice.
    var outer: Set<Substring> = []
    for path in SourceTree.files where path.hasPrefix(root) && path != root + "Exports.swift" {
      let parts = path.dropFirst(root.count).split(separator: "/")
      let folder = parts.dropLast().joined(separator: "/")
      let floor = try #require(Self.folders.firstIndex(of: folder), "\(path) has no floor.")
      let code = try String(contentsOf: Document(path: path).url, encoding: .utf8)
        .replacing(/\/\/.*|"[^"\n]*"/, with: "")
      codes.append((path, floor, code))
      for type in code.matches(
        of: /(?m)^( *)(?:[@a-z][\w()]* )*(?:struct|class|enum|actor|protocol|typealias) (\w+)/)
      {
        floors[type.2] = min(floor, floors[type.2] ?? floor)
        if type.1.isEmpty { outer.insert(type.2) }
      }
    }
    #expect(codes.count > 100 && outer.count > 100)
    for (path, floor, code) in codes {
      let words = outer.intersection(code.matches(of: /\b[A-Z]\w+/).map(\.0))
      let higher = words.filter { floors[$0, default: 0] > floor }
      #expect(higher.isEmpty, "\(path)")
    }
  }
}
