import Foundation
import Testing

@Suite("The privacy manifest", .timeLimit(.minutes(10)))
struct PrivacyManifestTests {
  /// Calls of the system that need a reason in Apple's stores, by their category.
  private let calls: [(category: String, names: Regex<Substring>)] = [
    ("FileTimestamp", /\b(?:f|l)?stat(?:at)?\(|creationDate|contentModificationDate/),
    ("DiskSpace", /\bf?stat(?:v)?fs\(|volumeAvailableCapacity|systemFreeSize/),
    ("SystemBootTime", /systemUptime|mach_absolute_time\(/),
    ("UserDefaults", /\bUserDefaults\b|NSUserDefaults/),
    ("ActiveKeyboards", /activeInputModes/),
  ]

  /// Whether a target of the products for Apple platforms uses one of them.
  private func usesCall(_ names: Regex<Substring>) throws -> Bool {
    // The command's and the tests' targets.
    let others = ["Sources/imagecache/", "Sources/CommandSupport/", "Sources/LoopbackServer/"]
    return try SourceTree.files.contains { path in
      guard !others.contains(where: path.hasPrefix) else { return false }
      let url = Document.root.appendingPathComponent(path)
      return try String(contentsOf: url, encoding: .utf8).contains(names)
    }
  }

  @Test("gives a reason for each category of calls that the library uses, and for no other")
  func isComplete() throws {
    let file = Document.root.appendingPathComponent("Sources/FastImageCache/PrivacyInfo.xcprivacy")
    let list = try #require(
      PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        as? [String: Any])
    #expect(list["NSPrivacyTracking"] as? Bool == false)
    let types = try #require(list["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    let prefix = "NSPrivacyAccessedAPICategory"
    let named = types.compactMap { $0["NSPrivacyAccessedAPIType"] as? String }
    let used = try calls.filter { try usesCall($0.names) }.map { prefix + $0.category }
    #expect(named.sorted() == used.sorted())
    for type in types {
      #expect((type["NSPrivacyAccessedAPITypeReasons"] as? [String])?.isEmpty == false)
    }
  }
}
