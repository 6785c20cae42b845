import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs
import ImageDrawing

/// Copies of photographs as web sites serve them: progressive JPEG files of a moderate size.
///
/// Cameras write baseline files, of which nothing but the top rows can be shown before they are whole.
enum ProgressiveCopies {
  /// The longer side, in pixels.
  static let longestSide = 1600

  /// Decodes and encodes each photograph; leaves out and names those that fail.
  ///
  /// - Throws: ``CommandFailure`` if all fail, `CancellationError`.
  static func make(
    of photos: [PhotoFolder.Photo]
  ) async throws -> (photos: [PhotoFolder.Photo], files: [Data]) {
    let progress = ProgressLine("making progressive copies", total: photos.count)
    var results: [Int: Result<Data, any Error>] = [:]
    await ConcurrentWork.forEach(
      photos.enumerated(), width: ProcessInfo.processInfo.activeProcessorCount
    ) { index, photo in
      (index, Result { try copy(of: photo.url) })
    } collect: { index, result in
      results[index] = result
      progress.update(results.count)
    }
    progress.end()
    try Task.checkCancellation()
    var copies: (photos: [PhotoFolder.Photo], files: [Data]) = ([], [])
    var skipped: [(path: String, reason: String)] = []
    for (index, photo) in photos.enumerated() {
      switch results[index] {
      case .success(let file):
        copies.photos.append(photo)
        copies.files.append(file)
      case .failure(let error):
        skipped.append((path: photo.path, reason: FailureText.text(of: error)))
      case nil: break
      }
    }
    PhotoRecognition.note(skipped, as: "skipped")
    guard !copies.files.isEmpty else { throw CommandFailure("No photograph could be decoded.") }
    return copies
  }

  private static func copy(of url: URL) throws -> Data {
    try Task.checkCancellation()
    let data = try FileReader.read(LocalPath(url))
    let decoder = try ImageDecoders.standard.decoder(for: data)
    let full = try decoder.header(of: data).size
    let scale = min(1, Double(longestSide) / Double(max(full.width, full.height)))
    func scaled(_ side: Int) -> Int { max(1, Int((Double(side) * scale).rounded())) }
    let size = PixelSize(width: scaled(full.width), height: scaled(full.height))
    let source = try decoder.decode(data, DecodeRequest(minimumSize: size))
    return try source.drawn(.stretch, size).data(
      encodedBy: JPEGEncoder(quality: 0.85, isProgressive: true))
  }
}
