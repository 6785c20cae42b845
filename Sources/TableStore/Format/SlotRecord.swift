/// One slot of one table file, as hashes name it.
struct SlotAddress: Hashable, Sendable {
  /// The random number of the file, made when the file is.
  let nonce: UInt64
  let slot: Int
}

/// The 64 bytes of a file that name the image of one slot. The hashes bind it to file and slot, so a record
/// that was copied elsewhere fails its hash there.
struct SlotRecord: Hashable, Sendable {
  let entity: TableID.Digest
  let version: TableID.Digest
  /// Counts the stores of one table; of two records for an entity the higher one is newer.
  let generation: UInt64
  /// Binds the slot's content to key, generation and slot address.
  let slotHash: UInt64
  /// The stamp of the last use. A wrong one changes the order of eviction and nothing else.
  var recency: UInt64

  /// No series of stores reaches this generation, so a file that has it is forged and is replaced.
  static let maximumGeneration = UInt64(1) << 63
}

extension SlotRecord {
  /// The record of a slot whose content has the hash `contentHash`.
  init(
    entity: TableID.Digest, version: TableID.Digest, generation: UInt64, contentHash: UInt64,
    recency: UInt64, at address: SlotAddress
  ) {
    self.init(
      entity: entity, version: version, generation: generation,
      slotHash: LaneHash.hash(
        contentHash, address.nonce, UInt64(address.slot), generation,
        entity.low, entity.high, version.low, version.high),
      recency: recency)
  }

  /// True when a slot with this content hash is the one that the record was written for.
  func covers(contentHash: UInt64, at address: SlotAddress) -> Bool {
    let expected = SlotRecord(
      entity: entity, version: version, generation: generation, contentHash: contentHash,
      recency: recency, at: address)
    return expected.slotHash == slotHash
  }

  // MARK: Bytes

  /// Reads a record; `nil` for a free slot, for damage, and for a record of another slot
  /// address.
  init?(reading bytes: UnsafeRawBufferPointer, at address: SlotAddress) {
    func field(_ offset: Int) -> UInt64 { bytes.number(at: offset, as: UInt64.self) }
    self.init(
      entity: .init(low: field(0), high: field(8)),
      version: .init(low: field(16), high: field(24)),
      generation: field(32), slotHash: field(40), recency: field(48))
    guard generation > 0, field(56) == recordHash(at: address) else { return nil }
  }

  /// The entity of the record at an offset, if there is a record.
  @inline(__always)
  static func entity(in bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> TableID.Digest {
    let bytes = UnsafeRawBufferPointer(bytes)
    return TableID.Digest(
      low: bytes.number(at: offset, as: UInt64.self),
      high: bytes.number(at: offset + 8, as: UInt64.self))
  }

  /// Writes the record's 64 bytes.
  func write(to bytes: UnsafeMutableRawBufferPointer, at address: SlotAddress) {
    func put(_ value: UInt64, at offset: Int) {
      bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
    put(entity.low, at: 0)
    put(entity.high, at: 8)
    put(version.low, at: 16)
    put(version.high, at: 24)
    put(generation, at: 32)
    put(slotHash, at: 40)
    put(recency, at: 48)
    put(recordHash(at: address), at: 56)
  }

  /// The record's 64 bytes.
  func bytes(at address: SlotAddress) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: TableLayout.recordByteCount)
    bytes.withUnsafeMutableBytes { write(to: $0, at: address) }
    return bytes
  }

  private func recordHash(at address: SlotAddress) -> UInt64 {
    // The nonce's bytes are swapped, so that this never equals a slot hash over the same numbers.
    LaneHash.hash(
      slotHash, address.nonce.byteSwapped, UInt64(address.slot), generation,
      entity.low, entity.high, version.low, version.high)
  }
}
