import Foundation
import TestSupport
import Testing

/// Type-checks a program with the compiler that built this test, against the modules that were
/// built with it.
struct SnippetCompiler {
  struct Verdict {
    let isAccepted: Bool
    /// The compiler's messages.
    let text: String
  }

  /// What declarations of a program belong to that say nothing of it.
  enum DefaultIsolation: String, CaseIterable, Sendable {
    case none
    /// As in new Xcode projects.
    case mainActor

    fileprivate var arguments: [String] {
      self == .none ? [] : ["-default-isolation", "MainActor"]
    }
  }

  private static let imports = "import FastImageCache\nimport Foundation\nimport SnippetContext\n"

  /// For each isolation the command that the driver would start for the `main.swift` of the folder it
  /// runs in. The driver takes as long as the compiler does for a snippet, so it is asked once.
  private let commands: [DefaultIsolation: String]

  /// Runs a test's checks one after the other on a thread of its own: they block, which threads of the
  /// concurrency pool must not, and the other tests need the cores too.
  static func use<Value: Sendable>(
    _ checks: @escaping @Sendable (SnippetCompiler) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try checks(SnippetCompiler()) })
      }
    }
  }

  private init() throws {
    commands = Dictionary(
      uniqueKeysWithValues: try DefaultIsolation.allCases.map { ($0, try Self.command($0)) })
  }

  func check(_ snippet: Snippet, _ isolation: DefaultIsolation = .none) throws -> Verdict {
    try check(Self.located(snippet), isolation)
  }

  /// Checks snippets that declare no type or function in one run of the compiler, which otherwise spends
  /// most of a run on reading the modules.
  ///
  /// Each stands in a scope of its own. The compiler wants the variables of a scope to be used, and not
  /// those of a `main.swift`, so this is no reason to refuse a snippet.
  func check(scopesOf snippets: [Snippet]) throws -> Verdict {
    let scopes = snippets.map { "do {\n\(Self.located($0))#sourceLocation()\n}\n" }
    let verdict = try check(scopes.joined(), .none, warningsAreErrors: false)
    let warnings = verdict.text.split(separator: "\n").filter {
      $0.contains(": warning: ") && !$0.contains("was never ")
    }
    return Verdict(isAccepted: verdict.isAccepted && warnings.isEmpty, text: verdict.text)
  }

  private func check(
    _ program: String, _ isolation: DefaultIsolation, warningsAreErrors: Bool = true
  ) throws -> Verdict {
    var command = commands[isolation] ?? ""
    if !warningsAreErrors { command.replace(" -warnings-as-errors", with: "") }
    let (status, text) = try Self.run(
      ["sh", "-c", command], beside: Self.imports + program)
    return Verdict(isAccepted: status == 0, text: text)
  }

  /// Messages name the document and its line, as if the snippet had been compiled itself.
  private static func located(_ snippet: Snippet) -> String {
    """
    #sourceLocation(file: "\(snippet.path)", line: \(snippet.line))
    \(snippet.code)
    """
  }

  private static func command(_ isolation: DefaultIsolation) throws -> String {
    let compiler = ["swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors"]
    let headers = try headerPaths()
    let (status, text) = try run(
      compiler + isolation.arguments + modulePaths() + headers + ["main.swift", "-###"])
    try #require(status == 0, "\(text)")
    return text
  }

  /// Runs a command in a folder of its own, which has a program as its `main.swift`.
  private static func run(
    _ command: [String], beside program: String = ""
  ) throws -> (status: Int32, text: String) {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("snippet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(program.utf8).write(to: folder.appendingPathComponent("main.swift"))
    let output = folder.appendingPathComponent("output.txt")
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    let process = try SpawnedProcess(
      ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder.path] + command,
      environment: ProcessInfo.processInfo.environment, output: handle.fileDescriptor,
      errors: handle.fileDescriptor)
    let status = process.waitUntilExit().status
    try handle.close()
    return (status, try String(contentsOf: output, encoding: .utf8))
  }

  /// The folder of the modules, and the maps of the C modules that those are built on.
  private static func modulePaths() -> [String] {
    let modules = buildFolder.appendingPathComponent("Modules")
    let systemLibraries = Document.root.appendingPathComponent("Sources/SystemLibraries")
    let sources = Document.root.appendingPathComponent("Sources")
    let maps =
      children(of: systemLibraries)
      + children(of: sources).map { $0.appendingPathComponent("include") }
      + children(of: buildFolder).filter { $0.lastPathComponent.hasSuffix(".build") }
    return ["-I", modules.path]
      + maps.map { $0.appendingPathComponent("module.modulemap").path }
      .filter { FileManager.default.fileExists(atPath: $0) }
      .flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
  }

  /// The folders of the headers of the system libraries; none on a system without pkg-config, where
  /// the library is built without them.
  private static func headerPaths() throws -> [String] {
    let libraries = ["libjpeg", "libpng", "libwebpdemux", "lcms2", "libcurl", "cairo"]
    let (status, flags) = try run(["pkg-config", "--cflags-only-I"] + libraries)
    guard status == 0 else { return [] }
    return flags.split(whereSeparator: \.isWhitespace).flatMap { ["-Xcc", String($0)] }
  }

  private static func children(of folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appendingPathComponent($0) }
  }

  /// The folder of the test bundle, with the modules that were built with it.
  private static var buildFolder: URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    return (bundle?.bundleURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
      .resolvingSymlinksInPath().deletingLastPathComponent()
  }
}
