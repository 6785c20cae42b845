import CommandSupport
import FastImageCache
import Foundation

/// `--previews`: the folder in which each preview of an image stands beside the image, as PNG files in
/// the order in which they came.
struct PreviewFolder: Sendable {
  private let directory: URL

  /// Makes the folder, unless it is there.
  ///
  /// - Throws: ``CommandFailure``, ``UsageError``.
  init(_ path: String) throws {
    directory = try URL(argument: path, directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(
        "The folder \"\(path)\" cannot be made: \(OutputFile.reason(of: error)).")
    }
  }

  /// Writes an image that came.
  ///
  /// - Parameters:
  ///   - kind: The image's kind; `nil` for the wanted one.
  ///   - elapsed: The time since the request.
  ///   - number: The place of `url` in the call: two addresses may end alike.
  /// - Returns: The file's name.
  /// - Throws: ``CommandFailure``.
  func write(
    _ image: CachedImage, _ kind: ImagePreview.Kind?, after elapsed: Duration, of url: URL,
    number: Int, in format: ImageFormat
  ) throws(CommandFailure) -> String {
    let milliseconds = String(Int(elapsed / .milliseconds(1)))
    let name = [
      "\(number)", Self.safe(url.lastPathComponent), Self.safe(format.name),
      // As many digits as sort files by time for a day.
      String(repeating: "0", count: max(0, 8 - milliseconds.count)) + milliseconds + "ms",
      Self.name(of: kind),
    ].joined(separator: "-")
    let file = directory.appending(path: name + ".png")
    let data: Data
    do { data = try image.pngData() } catch {
      throw CommandFailure("\(file.path) cannot be written: \(error)")
    }
    try OutputFile.write(data, to: file)
    return file.lastPathComponent
  }

  private static func name(of kind: ImagePreview.Kind?) -> String {
    switch kind {
    case nil: "picture"
    case .frame(let number): "frame\(number)"
    case .variant: "variant"
    case .stale: "stale"
    case .placeholder: "placeholder"
    case .embedded: "embedded"
    case .rows(let part): "rows\(Int((part * 100).rounded()))"
    }
  }

  /// At most 40 characters that mean nothing to a file system or a shell.
  private static func safe(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(40).map { scalar in
        let isPlain =
          scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
          || scalar == "." || scalar == "_"
        return isPlain ? Character(scalar) : "_"
      })
  }
}
