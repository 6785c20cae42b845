import CInterposer
import CommandSupport
import Foundation
import Player

/// Lends a walk child processes, and calls that fail.
struct TorturePlayHost: PlayHost {
  func startNeighbour(_ start: NeighbourStart) throws -> any PlayNeighbour {
    try NeighbourProcess(start)
  }

  func refuseChanges(beneath folders: (URL, URL), isFull: Bool) {
    interposer_refuse_changes(folders.0.path, folders.1.path, isFull ? ENOSPC : EROFS)
  }

  func allowChanges() { interposer_refuse_changes("", "", 0) }
}

/// A child that reads commands from one pipe, a line each, and answers them by another.
private final class NeighbourProcess: PlayNeighbour {
  private static let patience = 10_000

  /// Not in the walk's folder, of which no file may stay open.
  private let pipes: TemporaryFolder
  private let child: ChildProcess
  private let commands: Int32
  private let answers: Int32

  init(_ start: NeighbourStart) throws {
    pipes = try TemporaryFolder(prefix: "imagecache-torture-pipes")
    let paths = NeighbourPipes(pipes.url)
    guard mkfifo(paths.commands, 0o600) == 0, mkfifo(paths.answers, 0o600) == 0 else {
      throw CommandFailure("A pipe cannot be made.")
    }
    // Both ends, so that opening waits for no process and writing raises no signal.
    commands = open(paths.commands, O_RDWR | O_CLOEXEC)
    answers = open(paths.answers, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    child = try ChildProcess([
      ChildRole.word, "neighbour", pipes.url.path, "\(start.port)", "\(start.plan)",
      start.folder.path,
    ])
  }

  deinit {
    _ = Foundation.close(commands)
    _ = Foundation.close(answers)
  }

  func answer(to command: Data) async -> Data? {
    let line = command + Data("\n".utf8)
    return await onThread { [self] in
      let count = line.withUnsafeBytes { write(commands, $0.baseAddress, $0.count) }
      return count == line.count ? readLine() : nil
    }
  }

  func kill() async -> Bool {
    await onThread { [child] in
      child.kill()
      return child.ending() == .signal(SIGKILL)
    }
  }

  func close() async -> Bool {
    await onThread { [self] in
      write(commands, "\n", 1)
      return child.ending() == .exit(ChildVerdict.done)
    }
  }

  private func readLine() -> Data? {
    var line = Data()
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      var event = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
      guard poll(&event, 1, Int32(Self.patience)) > 0 else { return nil }
      let count = read(answers, &bytes, bytes.count)
      guard count > 0 else { return nil }
      line += bytes.prefix(count)
      if line.last == UInt8(ascii: "\n") { return line.dropLast() }
    }
  }

  /// Waits on a thread that is no task's.
  private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }
}

/// The names of a neighbour's pipes.
private struct NeighbourPipes {
  let commands: String
  let answers: String

  init(_ folder: URL) {
    commands = folder.appending(path: "commands").path
    answers = folder.appending(path: "answers").path
  }
}

/// The child of a walk.
struct NeighbourChild {
  private let pipes: NeighbourPipes
  private let start: NeighbourStart

  /// - Parameter numbers: The server's port, and the plan's index.
  init(path: String, numbers: [Int], folder: String) {
    pipes = NeighbourPipes(URL(filePath: path))
    start = NeighbourStart(folder: URL(filePath: folder), port: numbers[0], plan: numbers[1])
  }

  func run() async throws -> Int32 {
    let (lines, line) = AsyncStream<Data>.makeStream()
    let answers = FileHandle(
      fileDescriptor: open(pipes.answers, O_WRONLY | O_CLOEXEC), closeOnDealloc: true)
    let commands = open(pipes.commands, O_RDONLY | O_CLOEXEC)
    Thread.detachNewThread {
      var rest = Data()
      var bytes = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(commands, &bytes, bytes.count)
        guard count > 0 else { return line.finish() }
        rest += bytes.prefix(count)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let next = Data(rest[..<end])
          rest = Data(rest[rest.index(after: end)...])
          // An empty line is the last.
          if next.isEmpty { return line.finish() }
          line.yield(next)
        }
      }
    }
    try await NeighbourWork(start).run(lines) {
      try? answers.write(contentsOf: $0 + Data("\n".utf8))
    }
    return ChildVerdict.done
  }
}
