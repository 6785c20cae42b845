import CommandSupport
import FastImageCache
import Foundation
import Pixels
import TestSupport
import Testing

@Suite("A photo folder", .timeLimit(.minutes(10)))
struct PhotoFolderTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    let inner = directory.url.appending(path: "b/c", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
    try Data("P1".utf8).write(to: directory.url.appending(path: "z.txt"))
    try Data("P22".utf8).write(to: inner.appending(path: "a.jpg"))
    try Data("no".utf8).write(to: directory.url.appending(path: "b/liar.jpg"))
    try Data("P".utf8).write(to: directory.url.appending(path: ".hidden.jpg"))
  }

  private func read() throws -> PhotoFolder {
    try PhotoFolder(directory.url.path) { $0.first == UInt8(ascii: "P") ? nil : "no image" }
  }

  @Test("finds images by their bytes, in the folders inside too, in the order of paths")
  func finds() throws {
    let folder = try read()
    #expect(folder.photos.map(\.path) == ["b/c/a.jpg", "z.txt"])
    #expect(folder.photos.map(\.byteCount) == [3, 2])
    #expect(folder.skipped.map { [$0.path, $0.reason] } == [["b/liar.jpg", "no image"]])
  }

  #if !canImport(Darwin)
    /// Apple's file systems have no names that are not UTF-8.
    @Test("tells names apart that are not UTF-8, or differ by U+FEFF")
    func bytesOfNames() throws {
      let root = try LocalPath(directory.url)
      let folder = root.appending([0x64, 0xFF])
      #expect(mkdir(folder.characters, 0o700) == 0)
      let names: [[UInt8]] = [
        [0x63, 0xE9], [0x63, 0xE8], Array("c\u{FFFD}".utf8), Array("c%E9".utf8),
        Array("\u{FEFF}c".utf8), [0x63],
      ]
      for path in names.map(root.appending) + names.map(folder.appending) {
        let file = open(path.characters, O_WRONLY | O_CREAT, 0o600)
        #expect(write(file, [0x50] + path.bytes, path.bytes.count + 1) == path.bytes.count + 1)
        close(file)
      }
      let photos = try read().photos
      #expect(photos.count == 14 && Set(photos.map(\.path)).count == 14)
      #expect(photos.contains { $0.path == "./d%FF/c%E9" })
      for photo in photos where photo.url.lastPathComponent != "z.txt" && photo.byteCount > 3 {
        let path = try LocalPath(photo.url)
        #expect(try FileReader.read(path) == Data([0x50] + path.bytes))
      }
      let inner = try PhotoFolder(folder.url.absoluteString) { _ in nil }
      #expect(inner.photos.map(\.path).contains("./c%E8") && inner.photos.count == 6)
    }

    @Test("has its images warmed, whatever the bytes of its name")
    func isWarmed() async throws {
      let folder = try LocalPath(directory.url).appending([0xE9])
      #expect(mkdir(folder.characters, 0o700) == 0)
      let size = PixelSize(width: 16, height: 8)
      try TestImages.writePNG(size, seed: 1, to: directory.url.appending(path: "one.png"))
      try #expect(
        rename(
          LocalPath(directory.url.appending(path: "one.png")).characters,
          folder.appending([0xFF]).characters) == 0)
      let words = [
        "warm", CommandLine.word(folder.bytes), "--cache",
        directory.url.appending(path: "cache").path, "--format", "row:16x8:bgrx32",
      ]
      let outcome = try await CommandProcess(words, temporaryFolder: directory.url).run()
      #expect(outcome.output == "1 stored, 0 already there, 0 failed\n", "\(outcome)")
      let inspected = try await CommandProcess(
        ["inspect", CommandLine.word(folder.bytes)], temporaryFolder: directory.url
      ).run()
      #expect(inspected.status == 2)
    }
  #endif

  @Test("does not wait for the writer of a pipe")
  func pipe() throws {
    #expect(mkfifo(directory.url.appending(path: "pipe.jpg").path, 0o600) == 0)
    let skipped = try read().skipped
    #expect(skipped.first { $0.path == "pipe.jpg" }?.reason == "it is not a regular file")
  }

  @Test(
    "tells files and folders without permission from files that are no images",
    .enabled(if: geteuid() != 0))
  func forbidden() throws {
    let locked = ["b/c", "z.txt"].map { directory.url.appending(path: $0).path }
    for path in locked { #expect(chmod(path, 0) == 0) }
    // So that the folder can be removed.
    defer { for path in locked { chmod(path, 0o700) } }
    let folder = try read()
    #expect(folder.photos.isEmpty)
    #expect(folder.unreadable.map(\.path) == ["b/c", "z.txt"])
    #expect(folder.unreadable.allSatisfy { $0.reason == "Permission denied" })
  }
}
