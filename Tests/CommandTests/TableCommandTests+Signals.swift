import FastImageCache
import Foundation
import Pixels
import TestSupport
import Testing

/// Signals to the table commands in the middle of their work.
extension TableCommandTests {
  /// Besides the two images that are there.
  private func writeMorePhotos(_ count: Int) throws {
    for number in 0..<count {
      try TestImages.writePNG(
        PixelSize(width: 120, height: 90), seed: number,
        to: photos.appending(path: "inner/\(number).png"))
    }
  }

  /// Images that take long, and come last: so many that even a busy machine delivers the signal
  /// during the work.
  private func writeSlowPhotos(_ count: Int) throws {
    let folder = photos.appending(path: "slow")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let first = folder.appending(path: "0.png")
    guard
      let layout = PixelLayout(size: PixelSize(width: 4000, height: 3000), format: .gray8)
    else { throw CocoaError(.coderInvalidValue) }
    let flat = try Bitmap(layout: layout) { _ in }
    try flat.pngData().write(to: first)
    for number in 1..<count {
      try FileManager.default.linkItem(at: first, to: folder.appending(path: "\(number).png"))
    }
  }

  @Test("go on after a hangup that their parent process ignores")
  func hungUp() async throws {
    let process = try CommandProcess(
      ["warm", photos.path, "--cache", cache, "--format", "row:100x100"],
      temporaryFolder: directory.url, preparation: "trap '' HUP")
    let outcome = try await process.run(sending: SIGHUP, after: "warming")
    #expect(outcome.status == 0)
    #expect(outcome.output == "2 stored, 0 already there, 0 failed\n")
  }

  @Test("say after Ctrl-C how many of the readable images are left")
  func interrupted() async throws {
    try writeSlowPhotos(500)
    try FileManager.default.createSymbolicLink(
      atPath: photos.appending(path: "lost.png").path, withDestinationPath: "nowhere")
    let process = try CommandProcess(
      ["warm", photos.path, "--cache", cache, "--format", "row:100x100"],
      temporaryFolder: directory.url)
    let outcome = try await process.run(sending: SIGINT, after: "warming")
    #expect(outcome.status == 130)
    let words = outcome.output.split(separator: " ")
    let storedCount = try #require(words.first.flatMap { Int($0) })
    #expect(outcome.output == "\(storedCount) stored, 0 already there, 1 failed\n")
    #expect(storedCount < 502)
    #expect(outcome.errors.contains("\n\(502 - storedCount) of 502 left"))
  }

  @Test("find every image whole after a kill in the middle of the filling")
  func killed() async throws {
    try writeMorePhotos(200)
    try writeSlowPhotos(150)
    let process = try CommandProcess(
      ["warm", photos.path, "--cache", cache, "--format", "row:100x100:bgra32"],
      temporaryFolder: directory.url)
    // A quarter of the images, before any slow one: the quick ones outnumber that quarter and the
    // concurrent ones.
    let outcome = try await process.run(sending: SIGKILL, after: "warming: 88 of 352")
    #expect(outcome.isKilled)
    #expect(try await run("verify", cache).status == 0)
    try FileManager.default.removeItem(at: photos.appending(path: "slow"))
    let second = try await warm("row:100x100:bgra32")
    #expect(second.status == 0)
    let counts = second.output.matches(of: /[0-9]+/).compactMap { Int($0.output) }
    #expect(counts.count == 3 && counts[0] + counts[1] == 202 && counts[1] >= 88 && counts[2] == 0)
    #expect(try await run("inspect", cache).output.contains(" of 368 images"))
    #expect(try await run("verify", cache).status == 0)
  }
}
