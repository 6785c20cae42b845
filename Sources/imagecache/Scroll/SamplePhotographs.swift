import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs

/// Images that decode as photographs do: smooth skies, textured ground, sharp edges, and the
/// noise of a sensor. The same in every run.
enum SamplePhotographs {
  static let usualCount = 24
  static let size = PixelSize(width: 1600, height: 1200)

  /// Draws images and writes them as JPEG files into a new folder.
  ///
  /// - Throws: `CancellationError`, and the errors of writing.
  static func write(_ count: Int, to folder: URL) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let progress = ProgressLine("drawing photographs", total: count)
    progress.update(0)
    var doneCount = 0
    var problem: (any Error)?
    let width = ProcessInfo.processInfo.activeProcessorCount
    await ConcurrentWork.forEach(0..<count, width: width) { number in
      Result {
        try Task.checkCancellation()
        let data = try Landscape(number: number).bitmap(size).jpegData()
        let name = "landscape \(String(number + 1).leftPadded(to: 2)).jpg"
        try data.write(to: folder.appending(path: name))
      }
    } collect: { result in
      if case .failure(let error) = result { problem = problem ?? error }
      doneCount += 1
      progress.update(doneCount)
    }
    progress.end()
    try Task.checkCancellation()
    if let problem { throw problem }
  }
}
