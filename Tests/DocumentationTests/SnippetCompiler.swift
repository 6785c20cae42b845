import Foundation

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

  /// Ends when the compiler has, without holding a thread meanwhile.
  func check(
    _ snippet: Snippet, _ isolation: DefaultIsolation = .none
  ) async throws -> Verdict {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("snippet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appendingPathComponent("main.swift")
    // Messages name the document and its line, as if it had been compiled itself.
    let program = """
      \(Self.imports)
      #sourceLocation(file: "\(snippet.path)", line: \(snippet.line))
      \(snippet.code)
      """
    try Data(program.utf8).write(to: source)

    let (status, text) = try await run(
      ["swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors"]
        + isolation.arguments
        + Self.modulePaths() + (try await headerPaths()) + [source.path],
      output: folder.appendingPathComponent("output.txt"))
    return Verdict(isAccepted: status == 0, text: text)
  }

  private func run(
    _ command: [String], output: URL
  ) async throws -> (status: Int32, text: String) {
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = handle
    process.standardError = handle
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
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
  private func headerPaths() async throws -> [String] {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("headers-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let libraries = ["libjpeg", "libpng", "libwebpdemux", "lcms2", "libcurl", "cairo"]
    let (status, flags) = try await run(
      ["pkg-config", "--cflags-only-I"] + libraries, output: file)
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
