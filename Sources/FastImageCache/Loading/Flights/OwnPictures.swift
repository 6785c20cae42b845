import Locking

/// Which entities may have pictures of their own: a load has to ask those, and no others.
///
/// No program can see whether a type has a ``ImageEntity/picture(for:)`` of its own, so the default one notes the
/// type for which it is called. An implementation of one's own cannot call the default.
///
/// Invariant: a type that was noted never has an own picture.
enum OwnPictures {
  private static let typesWithout = Lock<Set<ObjectIdentifier>>([])

  static func noteNone(in type: any ImageEntity.Type) {
    _ = typesWithout.withLock { $0.insert(ObjectIdentifier(type)) }
  }

  /// Whether the entity has to be asked; also true of one whose type was never asked yet.
  static func areExpected(of entity: any ImageEntity) -> Bool {
    let type = ObjectIdentifier(type(of: entity))
    return typesWithout.withLock { !$0.contains(type) }
  }
}
