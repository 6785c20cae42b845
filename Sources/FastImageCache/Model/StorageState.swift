import TableStore

/// Whether the images and originals that a cache stores reach the disk.
@nonexhaustive public enum StorageState: Hashable, Sendable {
  /// They do; those of a second process reach a file of its own first.
  case ready

  /// A table's file is there and can only be read. Its images are found; new ones are kept in memory until
  /// the cache is closed. The reason is a sentence that names the file.
  case readOnly(reason: String)

  /// There is no file or folder to be had, and images are kept in memory until the cache is closed; or no
  /// originals are kept. The reason is a sentence that names the file or folder.
  case unavailable(reason: String)
}

extension StorageState {
  init(_ storage: TableStorage) {
    self =
      switch storage {
      case .ready: .ready
      case .readOnly(let error): .readOnly(reason: error.description)
      case .unavailable(let error): .unavailable(reason: error.description)
      }
  }
}
