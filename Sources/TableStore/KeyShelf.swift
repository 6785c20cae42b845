/// The strings among the ids of each slot, where a search can compare them without retaining them.
///
/// Invariants:
/// 1. A span is empty, or lies in the object beside it, which is retained here.
/// 2. Places are read and written under the index lock only.
///
/// `@unchecked Sendable` is safe by invariant 2: the index owns the object and lends it to nobody.
final class KeyShelf: @unchecked Sendable {
  private struct Place {
    var entity: IDSpan
    var source: IDSpan
    var entityOwner: Unmanaged<IDBytes.Buffer>?
    var sourceOwner: Unmanaged<IDBytes.Buffer>?
  }

  private let places: UnsafeMutablePointer<Place>
  /// The places that were ever used are below this number.
  private var usedCount = 0

  init(slotCount: Int) {
    // A place of zeros is one without strings: no address, no bytes, no owner. So a large table
    // whose keys are not strings, or that has just been opened, never touches this memory.
    let byteCount = max(1, slotCount) * MemoryLayout<Place>.stride
    guard let memory = SystemMemory.allocateZeros(byteCount: byteCount) else {
      preconditionFailure("There is no memory for the keys of \(slotCount) slots.")
    }
    places = memory.bindMemory(to: Place.self, capacity: slotCount)
  }

  deinit {
    for slot in 0..<usedCount { clear(slot) }
    SystemMemory.deallocate(places)
  }

  /// Keeps a key's strings for a slot.
  func set(_ slot: Int, to key: TableKey) {
    clear(slot)
    guard key.entity.bytes != nil || key.source.bytes != nil else { return }
    places[slot] = Place(
      entity: key.entity.span, source: key.source.span,
      entityOwner: key.entity.bytes.map { .passRetained($0.buffer) },
      sourceOwner: key.source.bytes.map { .passRetained($0.buffer) })
    usedCount = max(usedCount, slot + 1)
  }

  func clear(_ slot: Int) {
    guard slot < usedCount else { return }
    places[slot].entityOwner?.release()
    places[slot].sourceOwner?.release()
    let none = IDSpan(base: nil, count: 0)
    places[slot] = Place(entity: none, source: none, entityOwner: nil, sourceOwner: nil)
  }

  /// True when a slot's strings are those of the key; ids of other kinds have none.
  @inline(__always)
  func hasStrings(of key: TableKey, _ slot: Int) -> Bool {
    if key.entity.kind == .string, !places[slot].entity.hasSameBytes(as: key.entity.span) {
      return false
    }
    return key.source.kind != .string || places[slot].source.hasSameBytes(as: key.source.span)
  }

  func entityBytes(of slot: Int) -> IDBytes? {
    (places[slot].entityOwner?.takeUnretainedValue()).map { IDBytes($0) }
  }

  func sourceBytes(of slot: Int) -> IDBytes? {
    (places[slot].sourceOwner?.takeUnretainedValue()).map { IDBytes($0) }
  }
}
