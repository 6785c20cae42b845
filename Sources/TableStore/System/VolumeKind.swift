/// Whether files of a volume may be read through a mapping.
///
/// A page of a mapping is read when it is touched, and if that fails there is no error but a signal.
/// On a volume that a network or a hand can take away this is an ordinary event, and some of them
/// keep mappings of two machines apart. There, slots are copied by call, and each copy is checked.
enum VolumeKind: Hashable, Sendable {
  case steady
  /// On another machine, in another program, or on a device that is pulled out.
  case unsteady
}
