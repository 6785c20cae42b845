import Foundation
import Locking
import TableStore

/// All writes of a table to its files, in order.
final class WriteJournal: Sendable {
  enum Event {
    /// Bytes for a file; `file` counts the files that were begun.
    case write(file: Int, offset: Int, bytes: [UInt8])
    /// All earlier writes to the file are on the device.
    case synchronized(file: Int)
    /// The file got the table's name.
    case named(file: Int)
    /// The names in the folder are on the device.
    case namesSynchronized
    /// `flush()` returned: the pictures are safe.
    case promised
  }

  fileprivate struct State {
    var events: [Event] = []
    /// The files by their inodes, which stay when a file is opened again.
    var files: [ino_t: Int] = [:]
    var fileCount = 0
  }

  private let state = Lock(State())

  var events: [Event] { state.withLock { $0.events } }

  /// Between two steps of the program: the driver of the table knows the pictures that `promised`
  /// covers.
  @discardableResult
  func note(_ event: Event) -> Int {
    state.withLock { state in
      state.events.append(event)
      return state.events.count
    }
  }

  var count: Int { state.withLock { $0.events.count } }

  var system: SystemCalls {
    SystemCalls { [state] call throws(SystemError) in
      let (kind, descriptor, offset) = (call.kind, call.descriptor, call.offset)
      let bytes = call.bytes.map { Array($0) } ?? []
      state.withLock { $0.take(kind, descriptor, offset, bytes) }
    }
  }
}

extension WriteJournal.State {
  fileprivate mutating func take(
    _ kind: SystemCall.Kind, _ descriptor: Int32, _ offset: Int, _ bytes: [UInt8]
  ) {
    var status = stat()
    if descriptor >= 0 { fstat(descriptor, &status) }
    let inode = status.st_ino
    switch kind {
    case .write:
      // A header is the first write to a file, and is written once.
      if offset == 0 {
        files[inode] = fileCount
        // The first file is made under its name, all later ones get it when they are complete.
        if fileCount == 0 { events.append(.named(file: 0)) }
        fileCount += 1
      }
      guard let file = files[inode] else { return }
      events.append(.write(file: file, offset: offset, bytes: bytes))
    case .synchronize:
      // The folder has no header.
      events.append(files[inode].map { .synchronized(file: $0) } ?? .namesSynchronized)
    case .rename:
      // The name goes to the file that was begun last.
      events.append(.named(file: fileCount - 1))
    default: break
    }
  }
}
