import Testing

@Suite("A folder of source files", .timeLimit(.minutes(10)))
struct RoomTests {
  /// What a reader takes in at one glance.
  private static let mostFiles = 15

  /// Folders that are still too full. The list only ever gets shorter.
  private static let crowded: Set<String> = [
    "Sources/FastImageCache", "Sources/FastImageCache/ImageSources",
    "Sources/FastImageCache/Loading", "Sources/ImageDrawing", "Tests/FastImageCacheTests",
  ]

  private static let fileCounts = Dictionary(
    SourceTree.files.map { (SourceTree.folder(of: $0), 1) }, uniquingKeysWith: +)

  @Test("holds no more files than a reader takes in at once")
  func isSmall() {
    for (folder, count) in Self.fileCounts where !Self.crowded.contains(folder) {
      #expect(count <= Self.mostFiles, "\(folder) holds \(count) files.")
    }
    #expect(Self.fileCounts.count > 20)
  }

  @Test("counts as crowded only while it is", arguments: crowded.sorted())
  func isCrowded(folder: String) {
    let count = Self.fileCounts[folder] ?? 0

    #expect(count > Self.mostFiles, "\(folder) holds \(count) files: take it off the list.")
  }
}
