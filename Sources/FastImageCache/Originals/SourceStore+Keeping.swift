import Foundation
import OriginalStore
import TableStore

/// The loader's view.
extension SourceStore: OriginalKeeping {
  func open() async throws(OriginalsLocked) {
    guard !shelf.isOpen else { return }
    let shelf = shelf
    let isOpen = await budget.shared.run { (try? shelf.open()) != nil }
    if !isOpen { throw OriginalsLocked() }
  }

  func look(_ name: OriginalName) -> KeptOriginal? {
    guard let record = shelf.look(OriginalKey(name)) else { return nil }
    let freshness = freshness(of: record)
    guard freshness != .gone else { return nil }
    return KeptOriginal(
      freshness: freshness, isPlaceholder: record.flags.contains(.placeholder),
      entity: record.entity)
  }

  func read(
    _ name: OriginalName, urgency: Urgency
  ) async throws(OriginalsLocked) -> KeptBytes? {
    let key = OriginalKey(name)
    let read = try? await reading(urgency) {
      shelf throws(TableError) -> Result<KeptContent?, OriginalsLocked> in
      do throws(TableError) { return .success(try shelf.read(key)) } catch {
        guard case .protectedNow = error else { throw error }
        return .failure(OriginalsLocked())
      }
    }
    // Any other fault sends the load on to its source.
    guard let original = try read?.get() else { return nil }
    let terms =
      OriginalTerms(encoded: original.facts.terms)
      ?? OriginalTerms(received: Date(timeIntervalSince1970: Double(original.facts.stored)))
    return KeptBytes(bytes: original.bytes, terms: terms, contentHash: original.contentHash)
  }

  func partial(
    of name: OriginalName, for entity: ImageID, _ load: OriginalLoad, with headers: [String: String]
  ) -> PartialOnDisk? {
    PartialOnDisk(of: OriginalKey(name), for: entity, load, with: headers, on: shelf)
  }

  func begin(_ name: OriginalName, of entity: ImageID) -> OriginalLoad {
    shelf.begin(OriginalKey(name), of: entity.tableID)
  }

  func hold(
    _ original: ArrivedOriginal, as name: OriginalName, for load: OriginalLoad?,
    if mayKeep: () -> Bool
  ) -> Bool {
    guard let facts = rule.facts(of: original.terms) else { return false }
    return shelf.hold(
      original.bytes, OriginalKey(name),
      OriginalFacts(
        entity: original.entity.tableID, width: Int32(clamping: original.size.width),
        height: Int32(clamping: original.size.height), isPlaceholder: original.isPlaceholder,
        terms: original.terms.encoded(),
        stored: shelf.now / 1_000_000),
      RecordedFreshness(facts), for: load, from: original.partial, if: mayKeep)
  }

  func write(_ name: OriginalName) async {
    let (key, shelf) = (OriginalKey(name), shelf)
    await budget.shared.run { shelf.write(key) }
  }

  /// Writes the originals that are held now, those of other caches included, and the order of use.
  func settle() async {
    let shelf = shelf
    await budget.shared.run {
      shelf.writeHeld()
      shelf.saveUses()
    }
  }

  func confirm(
    _ name: OriginalName, of contentHash: UInt64, _ terms: OriginalTerms, for load: OriginalLoad?
  ) async {
    // The server forbids to keep it from now on.
    guard let facts = rule.facts(of: terms) else { return await drop(name, of: contentHash) }
    let (key, shelf) = (OriginalKey(name), shelf)
    await budget.shared.run {
      shelf.confirm(key, of: contentHash, RecordedFreshness(facts), for: load)
    }
  }

  func markStale(_ entity: ImageID) async {
    // Of a locked device nothing is known that could answer.
    try? await open()
    let shelf = shelf
    await budget.shared.run { shelf.markStale(entity.tableID) }
  }

  func drop(_ name: OriginalName, of contentHash: UInt64) async {
    let key = OriginalKey(name)
    // One that cannot be removed is found, and dropped, again.
    try? await writing { shelf throws(TableError) in try shelf.drop(key, of: contentHash) }
  }

  func freshness(of record: OriginalRecord) -> Freshness {
    rule.freshness(
      of: FreshnessFacts(record.freshness), stored: Int64(record.stored),
      lastUse: record.lastUse / 1_000_000, now: shelf.now / 1_000_000)
  }
}

extension FreshnessFacts {
  fileprivate init(_ freshness: RecordedFreshness) {
    self.init(
      answered: Int64(freshness.answered), freshFor: freshness.freshFor,
      staleWhileRevalidate: freshness.staleWhileRevalidate, staleIfError: freshness.staleIfError,
      mustRevalidate: freshness.mustRevalidate)
  }
}

extension RecordedFreshness {
  init(_ facts: FreshnessFacts) {
    self.init(
      answered: UInt32(clamping: facts.answered), freshFor: facts.freshFor,
      staleWhileRevalidate: facts.staleWhileRevalidate, staleIfError: facts.staleIfError,
      mustRevalidate: facts.mustRevalidate)
  }
}
