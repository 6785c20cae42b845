/// Whether files of a volume may be read through a mapping.
///
/// A failure to read a page of a mapping is a signal instead of an error. On a volume that a network or a hand
/// can remove, failures are ordinary, and some network file systems let the mappings of two machines differ.
/// There, slots are copied by call, and each copy is checked.
package enum VolumeKind: Hashable, Sendable {
  case safeToMap
  /// On another machine, in another program, or on a device that is pulled out.
  case unsafeToMap
}
