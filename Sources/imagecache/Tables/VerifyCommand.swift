import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// Reads every slot, and every file of originals, and compares it with its hashes.
struct VerifyCommand: Command {
  static let name = "verify"

  static let grammar = ArgumentGrammar(
    command: "imagecache verify",
    summary: "Reads every image of every table, and every original, and proves it intact.",
    operands: [.init("DIR", help: "a cache's folder, as given to `warm --cache`")],
    discussion: """
      Each damaged image is named, and the exit status is 1 if there is any. Nothing is changed: a
      program that opens the table finds the damage itself, drops the image and loads it again. Images
      in guest files, which a second process drew, are checked when the table's owner takes them in.
      Frames of animations are checked too.

      So it is with originals: one that is damaged is deleted by the program that reads it, and downloaded
      again. It is named as its file is, since nothing in it can be believed.
      """)

  private let path: String

  init(_ arguments: Arguments) { path = arguments.operands[0] }

  func run() async throws -> ExitStatus {
    let originals = try OriginalFolders(path).stores
    let folder = try TableFolder(path, mayBeEmpty: !originals.isEmpty)
    var damageCount = folder.unreadableFiles.count
    for file in folder.unreadableFiles {
      Console.print("\(file.path(percentEncoded: false)): not a table that can be read".printable)
    }
    for table in folder.tables {
      try Task.checkCancellation()
      let scan = ImageScan(table)
      for damage in scan.damages {
        Console.print(
          "\(table.reader.name): slot \(damage.slot): \(damage.text) is damaged".printable)
      }
      damageCount += scan.damages.count
      let frames =
        table.hasAnimations ? " of \(scan.frameCount.counted("frame"))" : ""
      Console.print(
        "\(table.reader.name.printable): \(scan.images.count.counted("image"))\(frames) intact"
          + (scan.damages.isEmpty ? "" : ", \(scan.damages.count) damaged"))
    }
    for store in originals { damageCount += try await OriginalProof(of: store).damageCount }
    return damageCount == 0 ? .success : .failure
  }
}
