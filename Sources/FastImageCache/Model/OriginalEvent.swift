/// Something that happened to originals; see ``CacheEvent/original(_:_:)``.
@nonexhaustive public enum OriginalEvent: Hashable, Sendable {
  /// It is written.
  case stored
  /// It was removed on request.
  case removed
  /// It made room for others.
  case evicted
  /// Its file was not the one that was written.
  case damaged
  /// It is not kept; the reason is a sentence.
  case refused(String)
  /// The store cannot be used; the reason names the file.
  case unavailable(String)
}

/// A reason why a store of originals cannot be used that does not pass by itself.
@nonexhaustive public enum OriginalFault: String, Hashable, Sendable {
  case damaged = "the database is damaged"
  case foreign = "it is the database of another program, or of an unreleased version"
  case newer = "a newer version of this library has made the database"
  case onNetwork = "the folder is on a network, where locks cannot be trusted"
  case readOnly = "the folder can only be read"
}
