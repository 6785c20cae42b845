import Foundation
import TableStore

/// This program's folder in the user's caches folder: the default place of all caches.
///
/// A cache deletes the tables that its program does not list. So each program needs a folder of its
/// own: without one, programs on Linux, and on a Mac outside of a sandbox, would meet in one folder.
enum ProgramFolder {
  static var url: URL {
    FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
      .appendingPathComponent(
        name(
          bundleIdentifier: Bundle.main.bundleIdentifier,
          command: CommandLine.arguments.first ?? ""),
        isDirectory: true)
  }

  /// The folder's name, made of the program's.
  ///
  /// - Parameters:
  ///   - bundleIdentifier: Names programs on Apple platforms.
  ///   - command: The program's first argument, not the path of its executable: a path behind a link
  ///     often contains the version, and one executable can be several programs.
  static func name(bundleIdentifier: String?, command: String) -> String {
    let name =
      [bundleIdentifier, command.split(separator: "/").last.map(String.init)]
      .compactMap { $0 }.first { !$0.isEmpty } ?? "unnamed"
    if isPlain(name) { return name }
    // The end of the name, since `safeName` throws for more than 255 bytes; a character cut in two
    // becomes a few bytes longer.
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
