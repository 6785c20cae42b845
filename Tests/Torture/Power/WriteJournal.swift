import Foundation
import Locking
import TableStore

/// All changes of a folder, in order: of the bytes of its files, and of their names.
final class WriteJournal: Sendable {
  enum Event {
    /// Bytes for a file; files count in the order in which they were made.
    case write(file: Int, offset: Int, bytes: [UInt8])
    /// All earlier writes to the file are on the device.
    case synchronized(file: Int)
    /// A name leads to another file now, or to none.
    case named(String, file: Int?)
    /// The names in the folder are on the device.
    case namesSynchronized
    /// `flush()` returned.
    case promised
  }

  fileprivate struct State {
    var events: [Event] = []
    var names: [String: ino_t] = [:]
    /// A call may have changed names since they were looked at.
    var isStale = true
    /// The files by their inodes, also those that have no name any more.
    var files: [ino_t: Int] = [:]
    var fileCount = 0
  }

  private let path: String
  private let state = Lock(State())

  /// - Parameter path: Of the folder, which may be missing.
  init(path: String) { self.path = path }

  /// The number of events so far.
  var count: Int {
    state.withLock { state in
      state.lookAtNames(in: path)
      return state.events.count
    }
  }

  var events: [Event] { state.withLock { $0.events } }

  /// Between two steps of the program: its driver knows what `promised` covers.
  func note(_ event: Event) {
    state.withLock { state in
      state.lookAtNames(in: path)
      state.events.append(event)
    }
  }

  var system: SystemCalls {
    SystemCalls { [state, path] call throws(SystemError) in
      let (kind, descriptor, offset) = (call.kind, call.descriptor, call.offset)
      let bytes = call.bytes.map { Array($0) } ?? []
      state.withLock { state in
        // What the call before this one did to names shows now.
        state.lookAtNames(in: path)
        state.take(kind, descriptor, offset, bytes)
      }
    }
  }
}

extension WriteJournal.State {
  fileprivate mutating func lookAtNames(in path: String) {
    guard isStale else { return }
    isStale = false
    var found: [String: ino_t] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      var status = stat()
      if lstat(path + "/" + name, &status) == 0 { found[name] = status.st_ino }
    }
    guard found != names else { return }
    for (name, inode) in found.sorted(by: { $0.key < $1.key }) where names[name] != inode {
      // A renamed file had a name before. A new one may have the inode of one that is gone.
      if !names.values.contains(inode) {
        files[inode] = fileCount
        fileCount += 1
      }
      events.append(.named(name, file: files[inode]))
    }
    for name in names.keys.sorted() where found[name] == nil {
      events.append(.named(name, file: nil))
    }
    names = found
  }

  fileprivate mutating func take(
    _ kind: SystemCall.Kind, _ descriptor: Int32, _ offset: Int, _ bytes: [UInt8]
  ) {
    isStale = [.open, .rename, .unlink].contains(kind)
    guard kind == .write || kind == .synchronize else { return }
    var status = stat()
    fstat(descriptor, &status)
    let file = files[status.st_ino]
    if kind == .synchronize {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      events.append(isFolder ? .namesSynchronized : .synchronized(file: file ?? fileCount))
    } else if let file, !bytes.isEmpty {
      events.append(.write(file: file, offset: offset, bytes: bytes))
    }
  }
}
