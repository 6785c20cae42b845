import TestSupport

/// The state of a table's files on a device when the power goes.
///
/// Each sector, or each page, has one of its versions since the file was last synchronised,
/// independent of the others. A few sectors are torn, with the start of one version and the end of
/// another; in some images a few hold neither.
struct Device {
  private struct File {
    /// Every sector as it was when the file was last synchronised.
    var durable: [UInt8] = []
    var current: [UInt8] = []
    /// The versions of a sector since, with the event that made each.
    var versions: [Int: [(event: Int, bytes: [UInt8])]] = [:]
  }

  static let sectorByteCount = 512

  private var files: [File] = []
  /// The files that the name may lead to; the name leads to the first for certain.
  private var named: [Int] = []
  private var eventCount = 0
  private let ignoresPromises: Bool

  /// - Parameter ignoresPromises: A planted fault: nothing is ever brought to the device.
  init(ignoresPromises: Bool = false) { self.ignoresPromises = ignoresPromises }

  mutating func take(_ event: WriteJournal.Event) {
    eventCount += 1
    switch event {
    case .write(let file, let offset, let bytes): write(file, offset, bytes)
    case .named(let file): named.append(file)
    case .promised: break
    case .synchronized, .namesSynchronized:
      if !ignoresPromises { synchronize(event) }
    }
  }

  /// One of the many files that the table's name may lead to after the power went, and whether
  /// every sector of it is made of versions that it had.
  func image(using random: inout SplitMix64) -> (bytes: [UInt8], isOrdinary: Bool)? {
    guard let file = named.randomElement(using: &random).map({ files[$0] }) else { return nil }
    let unit = Bool.random(using: &random) ? 1 : 8
    let hasGarbage = Int.random(in: 0..<8, using: &random) == 0
    var bytes = file.durable
    bytes += [UInt8](repeating: 0, count: max(0, file.current.count - bytes.count))
    for group in Dictionary(grouping: file.versions.keys, by: { $0 / unit }).values {
      let events = group.flatMap { file.versions[$0]?.map(\.event) ?? [] }
      // Mostly the header is there, or no image would open.
      let isHeader = group.contains(0)
      let limit =
        isHeader && Int.random(in: 0..<16, using: &random) > 0
        ? eventCount : Bool.random(using: &random) ? -1 : events.randomElement(using: &random) ?? -1
      for sector in group {
        let kept = file.versions[sector]?.last { $0.event <= limit }?.bytes
        place(kept, sector, of: file, in: &bytes, using: &random)
        if hasGarbage, sector > 0, Int.random(in: 0..<16, using: &random) == 0 {
          let start = sector * Self.sectorByteCount
          for offset in start..<(start + Self.sectorByteCount) {
            bytes[offset] = UInt8.random(in: 0...255, using: &random)
          }
        }
      }
    }
    let end = Int.random(in: file.durable.count...bytes.count, using: &random)
    if Bool.random(using: &random) { bytes.removeSubrange(end...) }
    return (bytes, !hasGarbage)
  }

  // MARK: Private

  private mutating func write(_ file: Int, _ offset: Int, _ bytes: [UInt8]) {
    while files.count <= file { files.append(File()) }
    let size = Self.sectorByteCount
    let end = (offset + bytes.count + size - 1) / size * size
    if files[file].current.count < end {
      let missing = end - files[file].current.count
      files[file].current += [UInt8](repeating: 0, count: missing)
    }
    files[file].current.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    for sector in (offset / size)...((offset + bytes.count - 1) / size) {
      let version = Array(files[file].current[(sector * size)..<((sector + 1) * size)])
      files[file].versions[sector, default: []].append((eventCount, version))
    }
  }

  private mutating func synchronize(_ event: WriteJournal.Event) {
    if case .synchronized(let file) = event {
      files[file].durable = files[file].current
      files[file].versions = [:]
    } else {
      named = named.suffix(1)
    }
  }

  /// Puts a version of a sector in its place, rarely only its start.
  private func place(
    _ version: [UInt8]?, _ sector: Int, of file: File, in bytes: inout [UInt8],
    using random: inout SplitMix64
  ) {
    let start = sector * Self.sectorByteCount
    guard let version else { return }
    let isTorn = Int.random(in: 0..<16, using: &random) == 0
    let count = isTorn ? Int.random(in: 0..<64, using: &random) * 8 : Self.sectorByteCount
    bytes.replaceSubrange(start..<(start + count), with: version.prefix(count))
  }
}
