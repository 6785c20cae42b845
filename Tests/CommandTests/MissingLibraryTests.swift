#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// The command where the dynamic linker finds another file in libcurl's place.
  @Suite("A system without libcurl", .timeLimit(.minutes(10)))
  struct MissingLibraryTests {
    private let directory: TemporaryDirectory
    private let libraries: URL

    init() throws {
      directory = try TemporaryDirectory()
      libraries = directory.url.appending(path: "libraries")
      try FileManager.default.createDirectory(at: libraries, withIntermediateDirectories: true)
    }

    private var library: URL { libraries.appending(path: "libcurl.so.4") }

    private func run(_ words: [String]) async throws -> CommandProcess.Outcome {
      try await CommandProcess(
        words, temporaryFolder: directory.url,
        preparation: "export LD_LIBRARY_PATH='\(libraries.path)'"
      ).run()
    }

    private func fetch(_ urls: [URL]) async throws -> CommandProcess.Outcome {
      try await run(
        ["fetch"] + urls.map(\.absoluteString)
          + ["--cache", directory.url.appending(path: "cache").path, "--format", "row:16x8:bgrx32"])
    }

    @Test("fails each request with the package's name and the linker's reason, and nothing else")
    func missing() async throws {
      try Data().write(to: library)
      let server = try HTTPServer(files: [:])
      let outcome = try await fetch((1...5).map { server.url("/\($0).png") })
      #expect(outcome.status == 1 && !outcome.isKilled)
      let faults = outcome.errors.split(separator: "\n").filter {
        $0.contains("libcurl4") && $0.contains("libcurl.so.4: file too short")
      }
      #expect(faults.count == 5, "\(outcome.errors)\(outcome.output)")
      #expect(server.requests.value == 0)
      #expect(try await run(["--help"]).status == 0)
    }

    @Test("names the function that an older library lacks")
    func unfit() async throws {
      // Its file has no length, so it is read to its end.
      let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps")).readToEnd()
      let lines = String(decoding: try #require(maps), as: UTF8.self).split(separator: "\n")
      let line = try #require(lines.first { $0.hasSuffix("/libc.so.6") })
      let start = try #require(line.firstIndex(of: "/"))
      try FileManager.default.createSymbolicLink(
        atPath: library.path, withDestinationPath: String(line[start...]))
      let outcome = try await fetch([try HTTPServer(files: [:]).url("/1.png")])
      #expect(outcome.status == 1 && !outcome.isKilled)
      #expect(outcome.errors.contains("has no curl_global_init"), "\(outcome.errors)")
    }
  }
#endif
