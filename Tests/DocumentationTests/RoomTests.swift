import Testing

@Suite("A folder of source files", .timeLimit(.minutes(10)))
struct RoomTests {
  /// The most files that a reader takes in at one glance.
  private static let mostFiles = 15

  private static let fileCounts = Dictionary(
    SourceTree.files.map { (SourceTree.folder(of: $0), 1) }, uniquingKeysWith: +)

  @Test("holds no more files than a reader takes in at once")
  func isSmall() {
    for (folder, count) in Self.fileCounts {
      #expect(count <= Self.mostFiles, "\(folder) holds \(count) files.")
    }
    #expect(Self.fileCounts.count > 20)
  }
}
