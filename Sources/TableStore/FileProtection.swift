/// The time in which a table's files may be read, on systems where a locked device closes files;
/// elsewhere it has no effect.
///
/// Each file has its class before its first byte, private files too. Files of the class `complete`
/// are not mapped: touching a page after the device was locked would end the process. Their slots
/// are copied by call, and each copy is checked, as on a volume that is not safe to map.
package enum FileProtection: Hashable, Sendable {
  /// Always.
  case none
  /// While the device is unlocked.
  case complete
  /// From the first unlock after a restart; before that not even through an open descriptor.
  case untilFirstUnlock
}
