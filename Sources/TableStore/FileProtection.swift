/// When a table's files may be read, on systems that keep files from everybody while the device is
/// locked; elsewhere it has no effect.
///
/// Each file has its class before its first byte, those without a name too. Files of the class
/// `complete` are not mapped: a page that is touched after the device was locked would end the
/// process. Their slots are copied by call, and each copy is checked, as on a volume that is not safe
/// to map.
package enum FileProtection: Hashable, Sendable {
  /// Always.
  case none
  /// While the device is unlocked.
  case complete
  /// From the first unlock after a restart, and before that not even by who has the file open.
  case untilFirstUnlock
}
