import TestSupport

/// The state of a folder on a device when the power goes.
///
/// Each sector, or each page, has one of its versions since its file was last synchronised, and each
/// name leads to one of the files, or to none, that it led to since the folder was last synchronised;
/// all independent of each other. A few sectors are torn, with the start of one version and the end of
/// another; in some images a few hold neither.
struct Device {
  private struct File {
    /// Every sector as it was when the file was last synchronised.
    var durable: [UInt8] = []
    /// Whole sectors, of which the file has the first `byteCount` bytes.
    var current: [UInt8] = []
    var byteCount = 0
    /// The versions of a sector since, with the event that made each.
    var versions: [Int: [(event: Int, bytes: [UInt8])]] = [:]
  }

  static let sectorByteCount = 512

  private var files: [File] = []
  /// The files that a name may lead to; to the first for certain, unless another follows.
  private var names: [String: [Int?]] = [:]
  private var eventCount = 0
  private let ignoresPromises: Bool

  /// - Parameter ignoresPromises: A planted fault: nothing is ever brought to the device.
  init(ignoresPromises: Bool = false) { self.ignoresPromises = ignoresPromises }

  mutating func take(_ event: WriteJournal.Event) {
    eventCount += 1
    switch event {
    case .write(let file, let offset, let bytes): write(file, offset, bytes)
    case .named(let name, let file): names[name, default: [nil]].append(file)
    case .promised: break
    case .synchronized(let file):
      guard !ignoresPromises, files.indices.contains(file) else { break }
      files[file].durable = Array(files[file].current.prefix(files[file].byteCount))
      files[file].versions = [:]
    case .namesSynchronized:
      if !ignoresPromises { names = names.mapValues { $0.suffix(1) } }
    }
  }

  /// One of the many folders that there may be after the power went, and whether every sector is made
  /// of versions that it had.
  func image(using random: inout SplitMix64) -> (files: [String: [UInt8]], isOrdinary: Bool) {
    let hasGarbage = Int.random(in: 0..<8, using: &random) == 0
    var image: [String: [UInt8]] = [:]
    for (name, targets) in names.sorted(by: { $0.key < $1.key }) {
      guard let target = targets.randomElement(using: &random), let file = target else { continue }
      // A file without a byte was never written to.
      image[name] =
        files.indices.contains(file)
        ? contents(of: files[file], hasGarbage: hasGarbage, using: &random) : []
    }
    return (image, !hasGarbage)
  }

  // MARK: Private

  private func contents(
    of file: File, hasGarbage: Bool, using random: inout SplitMix64
  ) -> [UInt8] {
    let unit = Bool.random(using: &random) ? 1 : 8
    // All that was written to some files has reached the device.
    let isCalm = Int.random(in: 0..<4, using: &random) == 0
    var bytes = file.durable
    bytes += [UInt8](repeating: 0, count: max(0, file.current.count - bytes.count))
    // In an order that the seed repeats.
    let groups = Dictionary(grouping: file.versions.keys.sorted(), by: { $0 / unit })
    for (_, group) in groups.sorted(by: { $0.key < $1.key }) {
      let events = group.flatMap { file.versions[$0]?.map(\.event) ?? [] }
      // Mostly the header is there, or no image would open.
      let isHeader = group.contains(0)
      let limit =
        isCalm || isHeader && Int.random(in: 0..<16, using: &random) > 0
        ? eventCount : Bool.random(using: &random) ? -1 : events.randomElement(using: &random) ?? -1
      for sector in group {
        let kept = file.versions[sector]?.last { $0.event <= limit }?.bytes
        place(kept, sector, mayTear: !isCalm, in: &bytes, using: &random)
        if hasGarbage, sector > 0, Int.random(in: 0..<16, using: &random) == 0 {
          spoil(sector, of: &bytes, using: &random)
        }
      }
    }
    bytes.removeSubrange(file.byteCount...)
    let end = Int.random(in: file.durable.count...bytes.count, using: &random)
    if !isCalm, Bool.random(using: &random) { bytes.removeSubrange(end...) }
    return bytes
  }

  private mutating func write(_ file: Int, _ offset: Int, _ bytes: [UInt8]) {
    while files.count <= file { files.append(File()) }
    let size = Self.sectorByteCount
    files[file].byteCount = max(files[file].byteCount, offset + bytes.count)
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

  /// Puts a version of a sector in its place, rarely only its start.
  private func place(
    _ version: [UInt8]?, _ sector: Int, mayTear: Bool, in bytes: inout [UInt8],
    using random: inout SplitMix64
  ) {
    let start = sector * Self.sectorByteCount
    guard let version else { return }
    let isTorn = mayTear && Int.random(in: 0..<16, using: &random) == 0
    let count = isTorn ? Int.random(in: 0..<64, using: &random) * 8 : Self.sectorByteCount
    bytes.replaceSubrange(start..<(start + count), with: version.prefix(count))
  }

  /// Puts into a sector what never stood in its file: noise, or a sector of another file.
  private func spoil(_ sector: Int, of bytes: inout [UInt8], using random: inout SplitMix64) {
    let range = sector * Self.sectorByteCount..<(sector + 1) * Self.sectorByteCount
    let other = files.randomElement(using: &random)?.current ?? []
    if other.count >= range.upperBound, Bool.random(using: &random) {
      bytes.replaceSubrange(range, with: other[range])
    } else {
      for offset in range { bytes[offset] = UInt8.random(in: 0...255, using: &random) }
    }
  }
}
