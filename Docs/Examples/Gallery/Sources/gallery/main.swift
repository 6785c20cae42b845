import CGalleryGTK
import Foundation

// No `await` here: on Linux the main thread is another one after it, and GTK stays on the first.
do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  guard gtk_init_check() != 0 else {
    throw Refusal("There is no display. Without a screen: xvfb-run -a gallery …")
  }
  let stock = try Stock(options)
  try wait {
    if options.misses {
      try await stock.cache.removeAllImages(in: stock.format)
    } else {
      try await stock.fill { done, count in
        note("filling the table: \(done) of \(count)")
      }
    }
  }
  let report = Gallery(options, stock).run()
  if options.printsJSON {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    print(String(decoding: try encoder.encode(report), as: UTF8.self))
  } else if report.frames > 0 {
    print(report.text)
  }
} catch {
  note("gallery: \(error)")
  exit(1)
}

/// Runs `body` on another thread, and waits for it.
func wait(for body: @escaping @Sendable () async throws -> Void) throws {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var failure: (any Error)?
  Task.detached {
    do { try await body() } catch { failure = error }
    done.signal()
  }
  done.wait()
  if let failure { throw failure }
}
