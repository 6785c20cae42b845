package import FastImageCache
package import Foundation

extension CommandLine {
  /// The words behind the program's name. Of a path that is not UTF-8 the word is its file's URL.
  package static var words: [String] {
    UnsafeBufferPointer(start: unsafeArgv, count: Int(argc)).dropFirst().compactMap { $0 }.map {
      word(UnsafeBufferPointer(start: $0, count: strlen($0)).map { UInt8(bitPattern: $0) })
    }
  }

  package static func word(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    // Of `--name=path` the path only.
    let isOption = bytes.starts(with: "--".utf8)
    let start = isOption ? bytes.firstIndex(of: UInt8(ascii: "=")).map { $0 + 1 } ?? 0 : 0
    let path = LocalPath(Array(bytes[start...]))
    let folder = LocalPath(Array(FileManager.default.currentDirectoryPath.utf8))
    let isAbsolute = path.bytes.first == UInt8(ascii: "/")
    return String(decoding: bytes[..<start], as: UTF8.self)
      + (isAbsolute ? path : folder.appending(path.bytes)).url.absoluteString
  }
}

extension LocalPath {
  /// - Parameter argument: A path, or a file's URL.
  /// - Throws: ``ImageSourceError`` for the URL of a file on another machine.
  package init(argument: String) throws(ImageSourceError) {
    let url = argument.hasPrefix("file://") ? URL(string: argument) : nil
    try self.init(url ?? URL(filePath: argument))
  }
}

extension URL {
  /// The file or folder of an argument that Foundation will open, which takes UTF-8 only.
  ///
  /// - Parameter argument: A path, or a file's URL.
  /// - Throws: ``UsageError`` for a path that is not UTF-8.
  package init(
    argument: String, directoryHint: DirectoryHint = .inferFromPath
  ) throws(UsageError) {
    guard let path = try? LocalPath(argument: argument),
      let text = String(validating: path.bytes, as: UTF8.self)
    else {
      throw UsageError(
        "\"\(argument)\" cannot be used: only images may have paths that are not UTF-8.")
    }
    self.init(filePath: text, directoryHint: directoryHint)
  }
}
