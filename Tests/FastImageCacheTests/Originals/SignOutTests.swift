import Foundation
import TestSupport
import Testing

@testable import FastImageCache

// As `Recipes.md` has it.
func signOut(_ account: String, _ cache: ImageCache, _ originals: OriginalStore) async throws {
  await cache.close()
  try await ImageCache.removeNamespace("account-\(account)")
  try await originals.removeAll(for: AccountID(account))
  try await originals.removeAll(in: "account-\(account)")  // Also what was loaded for everyone.
  try await originals.flush()  // Now a power cut does not bring them back.
}

@Suite("Signing out", .timeLimit(.minutes(10)))
struct SignOutTests {
  @Test("is the recipe's")
  func isRecipe() throws {
    let file = URL(fileURLWithPath: #filePath)
    let root = (0..<4).reduce(file) { url, _ in url.deletingLastPathComponent() }
    let page = root.appendingPathComponent("Sources/FastImageCache/FastImageCache.docc/Recipes.md")
    let recipe = try #require(
      String(contentsOf: page, encoding: .utf8).components(separatedBy: "### Sign out\n").last?
        .components(separatedBy: "```swift\n").dropFirst().first?
        .components(separatedBy: "```").first)
    #expect(recipe.contains("func signOut("))
    #expect(try String(contentsOf: file, encoding: .utf8).contains(recipe))
  }

  @Test("leaves no byte of what was stored or loaded, for the account or for everyone")
  func leavesNothing() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      // Where Linux has caches, and where Foundation looks for the user's home elsewhere.
      setenv("XDG_CACHE_HOME", directory.url.path, 1)
      setenv("CFFIXED_USER_HOME", directory.url.path, 1)
      // From bytes, from a file, from the server, and each for the account and for everyone.
      let pictures = try (0..<6).map { try noise($0).pngData() }
      let server = try HTTPServer(["/4": .ok(pictures[4]), "/5": .ok(pictures[5])])
      let originals = OriginalStore()
      var configuration = ImageCache.Configuration()
      configuration.originals = originals
      let cache = try await ImageCache(
        namespace: "account-ada", formats: [.row, .wide()], configuration: configuration)
      let photos = (0..<6).map { Photo(ImageID($0), url: server.url("/\($0)").absoluteString) }
      let file = directory.url.appendingPathComponent("sent.png")
      for (index, account) in [AccountID("ada"), nil].enumerated() {
        try await cache.store(
          pictures[index], for: photos[index], format: .row, account: account)
        try pictures[2 + index].write(to: file)
        try await cache.store(
          contentsOf: file, for: photos[2 + index], format: .row, account: account)
        try FileManager.default.removeItem(at: file)
        _ = try await cache.image(
          for: photos[4 + index], format: .row, options: LoadOptions(account: account))
      }
      await cache.loadsHaveEnded()
      #expect(server.requests.value == 2)
      // The account's requests find what was stored for it, and no others do.
      for photo in [photos[0], photos[2]] {
        for account in [AccountID("ada"), AccountID("bob"), nil] {
          let image = try? await cache.image(
            for: photo, format: .wide(), options: LoadOptions(account: account))
          #expect((image != nil) == (account == AccountID("ada")))
          try await cache.removeImage(for: photo, format: .wide())
        }
      }
      #expect(server.requests.value == 6)
      #expect(try pictures.filter { try isFound($0, below: directory.url) } == pictures)

      try await signOut("ada", cache, originals)
      #expect(try !pictures.contains { try isFound($0, below: directory.url) })
    }
  }

  @Test("keeps no original of a picture whose store it overtakes")
  func overtakesStore() async throws {
    let (gate, asked, directory) = (Gate(), Counter(), try TemporaryDirectory())
    let store = OriginalStore(directory: directory.url)
    let fixture = try await Fixture(from: EncodedSource()) {
      $0.originals = store
      $0.willStore = { _ in
        asked.increment()
        gate.waitBlocking()
      }
    }
    let storing = Task {
      try await fixture.cache.store(
        solid(7).pngData(), for: Photo("7"), format: .row, account: AccountID("ada"))
    }
    await asked.reaches(1)
    try await store.removeAll(for: AccountID("ada"))
    gate.open()
    _ = try await storing.value
    #expect(try await store.inspect().isEmpty)
  }
}

/// A picture that no encoder makes small.
private func noise(_ seed: Int) throws -> Bitmap {
  var numbers = SplitMix64(state: UInt64(seed))
  return try Bitmap(size: PixelSize(width: 200, height: 200), format: .bgrx32) { bytes, _ in
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: numbers.next()) }
  }
}

/// Whether a file has some 64 bytes of a picture.
private func isFound(_ picture: Data, below folder: URL) throws -> Bool {
  let files = FileManager.default.enumerator(atPath: folder.path)
  return try (files?.allObjects as? [String] ?? []).contains { name in
    let file = folder.appendingPathComponent(name)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder),
      !isFolder.boolValue
    else { return false }
    let content = try Data(contentsOf: file)
    return stride(from: 0, to: picture.count - 64, by: picture.count / 8).contains {
      content.range(of: picture.dropFirst($0).prefix(64)) != nil
    }
  }
}
