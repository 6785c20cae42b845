import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs

/// Finds the photographs of a folder and notes the other files.
enum PhotoRecognition {
  /// The most lines about other files; further ones are counted only.
  private static let noteCount = 20

  /// The photographs of a folder, without unreadable files and files that are no images.
  ///
  /// - Throws: ``UsageError`` for a folder that cannot be read, ``CommandFailure`` for one without
  ///   images.
  static func photos(in path: String) throws -> [PhotoFolder.Photo] {
    let folder = try folder(path)
    note(folder.unreadable.map { (path: $0.path, reason: $0.reason) }, as: "skipped")
    guard !folder.photos.isEmpty else { throw CommandFailure(noImages(in: path)) }
    return folder.photos
  }

  /// The photographs of a folder, and its unreadable files.
  ///
  /// - Throws: As above; a folder with nothing but unreadable files is not one without images.
  static func folder(_ path: String) throws -> PhotoFolder {
    let decoders = ImageDecoders.standard
    let folder = try PhotoFolder(path) { firstBytes in
      if firstBytes.isEmpty { return "it is empty" }
      do throws(ImageDecodingError) {
        _ = try decoders.decoder(for: firstBytes)
        return nil
      } catch {
        // Of a known kind, the trait of the package that it needs.
        return error.description
      }
    }
    note(folder.skipped.map { (path: $0.path, reason: $0.reason) }, as: "skipped")
    guard !folder.photos.isEmpty || !folder.unreadable.isEmpty else {
      throw CommandFailure(noImages(in: path))
    }
    return folder
  }

  /// The frames of all photographs; one whose file cannot be read as an animation has one.
  static func frameCount(of photos: [PhotoFolder.Photo]) -> Int {
    photos.reduce(0) { count, photo in
      // The cache will tell why.
      count + ((try? AnimatedFile(photo))?.header.frameCount ?? 1)
    }
  }

  private static func noImages(in path: String) -> String {
    "The folder \"\(path)\" has no images."
  }

  /// One line for each file, up to a readable number.
  static func note(_ files: [(path: String, reason: String)], as verb: String) {
    for file in files.prefix(noteCount) {
      Console.note("\(verb) \(file.path): \(file.reason)".printable)
    }
    if files.count > noteCount { Console.note("\(verb) \(files.count - noteCount) more files") }
  }
}
