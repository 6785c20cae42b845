package import TableStore

/// The reason why a store of originals cannot be used, or one of its calls failed.
package struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Fault: Hashable, Sendable {
    /// Other processes read or write for too long.
    case busy
    /// The file is no database, or a broken one.
    case damaged
    case diskFull
    /// The file is another program's database.
    case foreign
    /// This process is a child by `fork(2)` of one that has opened the store: SQLite forbids its use.
    case inherited
    /// The device is locked.
    case locked
    /// The folder is on a network, where locks cannot be trusted.
    case network
    /// A newer version of this library has made the database.
    case newer
    case readOnly
    case suspended
    case system
  }

  package let fault: Fault
  /// The file or folder that is meant.
  package let path: String
  /// The words of the system or of SQLite.
  package let text: String

  package init(_ fault: Fault, _ path: String, _ text: String) {
    (self.fault, self.path, self.text) = (fault, path, text)
  }

  package init(_ error: SystemError, _ path: String, _ system: SystemCalls) {
    let isFull = TableError(error) == .diskFull(error)
    self.init(system.isLock(error) ? .locked : isFull ? .diskFull : .system, path, "\(error)")
  }

  package var description: String { text.contains(path) ? text : "\(path): \(text)" }

  /// Whether another attempt can only fail again.
  package var isLasting: Bool {
    [.damaged, .foreign, .inherited, .network, .newer, .readOnly].contains(fault)
  }
}
