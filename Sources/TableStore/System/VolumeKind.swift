/// Whether files of a volume may be read through a mapping.
///
/// A page of a mapping is read when it is touched, and a failure is a signal instead of an error.
/// On a volume that a network or a hand can remove, failures are ordinary, and some network file
/// systems do not keep the mappings of two machines alike. There, slots are copied by call, and
/// each copy is checked.
enum VolumeKind: Hashable, Sendable {
  case steady
  /// On another machine, in another program, or on a device that is pulled out.
  case unsteady
}
