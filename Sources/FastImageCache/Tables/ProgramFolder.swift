import Foundation
import TableStore

/// This program's folder among the user's caches, below which everything is kept that was given no
/// other place.
///
/// A cache deletes the tables that its program does not list. So two programs must not meet in one
/// folder, as they would on Linux, and on a Mac outside of a sandbox.
enum ProgramFolder {
  static var url: URL {
    FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
      .appendingPathComponent(
        name(
          bundleIdentifier: Bundle.main.bundleIdentifier,
          command: CommandLine.arguments.first ?? ""),
        isDirectory: true)
  }

  /// The program's name, as the name of a folder.
  ///
  /// - Parameters:
  ///   - bundleIdentifier: Names programs on Apple platforms.
  ///   - command: What the program was started as. Not the path of its file: where that is reached by
  ///     a link it often has the version in it, and one file can be several programs.
  static func name(bundleIdentifier: String?, command: String) -> String {
    let name =
      [bundleIdentifier, command.split(separator: "/").last.map(String.init)]
      .compactMap { $0 }.first { !$0.isEmpty } ?? "unnamed"
    if isPlain(name) { return name }
    // The end of it, since it throws for more than 255 bytes; cutting a character adds a few.
    let end = String(decoding: name.utf8.suffix(200), as: UTF8.self)
    return (try? TableDirectory.safeName(for: end)) ?? "unnamed"
  }

  private static func isPlain(_ name: String) -> Bool {
    name.utf8.count <= 100 && name.first.map { $0.isLetter || $0.isNumber } == true
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
          UInt8(ascii: "_"), UInt8(ascii: "+"):
          true
        default: false
        }
      }
  }
}
