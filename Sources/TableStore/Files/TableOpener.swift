/// Opens the file of one table, makes it, or replaces it.
///
/// Each file has one owner, which holds its lock. The lock is on the file and not on its name, so
/// after locking, the name must still lead to the same file; and a replacement is locked before it
/// gets the name.
struct TableOpener: Sendable {
  /// An owned file, and its index.
  struct Opened {
    let file: TableFile
    let index: TableIndex

    /// False for a forged file: no series of stores reaches the last generation.
    var hasGenerationsLeft: Bool { index.newestGeneration < SlotRecord.maximumGeneration }
  }

  let directory: TableDirectory
  let name: String
  private(set) var fileName: String
  let layout: TableLayout
  let protection: FileProtection
  /// True where a table whose file cannot be made or written goes on in memory.
  let fallsBack: Bool
  let system: SystemCalls
  private let statesPool = SlotStatesPool()

  init(
    directory: TableDirectory, name: String, layout: TableLayout,
    protection: FileProtection = .none, fallsBack: Bool = false, system: SystemCalls
  ) throws(TableError) {
    self.directory = directory
    self.name = name
    self.layout = layout
    self.protection = protection
    self.fallsBack = fallsBack
    self.system = system
    fileName = try TableDirectory.fileName(for: name)
  }

  /// False where slots are copied instead, since a locked device closes the file while it is open.
  var mapsFiles: Bool { protection != .complete || !system.hasFileProtection }

  /// Opens the table as its owner; `nil` when another process owns it.
  ///
  /// A table of another capacity becomes a guest file. Anything else under the name is
  /// replaced, except a directory, and except a file of this user's that a locked device closes:
  /// `protectedDataUnavailable` is thrown for that.
  ///
  /// - Parameters:
  ///   - usesIndex: False reads the records, as only they tell which images are unwanted.
  ///   - isUnwanted: Picks records of removed images, which are left out.
  func open(
    usesIndex: Bool = true, without isUnwanted: SlotReader.Filter = { _, _ in false }
  ) throws(TableError) -> Opened? {
    do throws(SystemError) {
      // Each turn loses a race against another process; after sixteen the table counts as owned.
      for _ in 0..<16 {
        switch try attempt(usesIndex, isUnwanted) {
        case .opened(let opened): return opened
        case .busy: return nil
        case .changed: continue
        }
      }
      return nil
    } catch {
      throw error.isOccupied ? .occupied(path: path) : tableError(error)
    }
  }

  /// Puts a new and empty table under the name.
  ///
  /// - Parameter removals: What it remembers from the beginning.
  func replaceEmpty(noting removals: [RemovalLog.Entry] = []) throws(TableError) -> Opened {
    try wrapping { () throws(SystemError) in try replace(noting: removals) }
  }

  /// The opener of a guest file of this table.
  func guest(named name: String) -> TableOpener {
    var guest = self
    guest.fileName = name
    return guest
  }

  /// Makes a private file: one without a name, which the system deletes with its last user.
  func makePrivateFile() throws(TableError) -> TableFile {
    if directory.isMemory { return try makeMemoryFile() }
    return try makeFile(layout) { () throws(SystemError) in
      try directory.makePrivateFile(for: fileName)
    }
  }

  /// Makes the file of a second opener's own images: a private one, and one of memory where the folder
  /// takes no file and the table falls back.
  func makeSecondFile(because refusal: TableError? = nil) throws(TableError) -> TableFile {
    // A full disk may take a file, and none of its images.
    if fallsBack, case .diskFull? = refusal { return try makeMemoryFile() }
    do throws(TableError) { return try makePrivateFile() } catch {
      guard fallsBack, error.isOfStorage else { throw error }
      return try makeMemoryFile()
    }
  }

  private func makeMemoryFile() throws(TableError) -> TableFile {
    var layout = layout
    // Memory that the user did not ask for.
    let (isWanted, limit) = (directory.isMemory && directory.refusal == nil, 64 << 20)
    if !isWanted, layout.fileByteCount > limit {
      layout = try TableLayout(
        geometry: layout.geometry, capacity: .slots(max(1, limit / layout.stride)))
    }
    return try makeFile(layout) { () throws(SystemError) in try directory.makeMemoryFile() }
  }

  private func makeFile(
    _ layout: TableLayout, _ make: () throws(SystemError) -> FileDescriptor
  ) throws(TableError) -> TableFile {
    try wrapping { () throws(SystemError) in
      let descriptor = try make()
      try system.protect(descriptor.value, as: protection)
      let header = freshHeader(layout)
      try system.write(header.bytes, to: descriptor.value, at: 0)
      return TableFile(
        descriptor: descriptor, header: header, isMapped: mapsFiles, statesPool: statesPool,
        system: system)
    }
  }

  /// A reader of the named file, when there is one that can be read.
  func makeReader() throws(SystemError) -> TableReader? {
    try TableReader.open(
      fileName, in: directory,
      expecting: ReadableFile.Expectation(name: name, geometry: layout.geometry), system: system)
  }

  // MARK: Errors

  private var path: String { directory.path + "/" + fileName }

  /// The table's error for one of the system's: `protectedDataUnavailable` where the device is locked.
  func tableError(_ error: SystemError) -> TableError {
    system.isLock(error)
      ? .protectedDataUnavailable(name: name)
      : TableError(error, path: directory.isMemory ? "the table \"\(name)\"" : path)
  }

  /// Runs system calls for the table, and translates their errors.
  func wrapping<Result: ~Copyable>(
    _ body: () throws(SystemError) -> Result
  ) throws(TableError) -> Result {
    do throws(SystemError) { return try body() } catch { throw tableError(error) }
  }

  // MARK: Private

  private enum Attempt {
    case opened(Opened)
    case busy
    case changed
  }

  private func attempt(
    _ usesIndex: Bool, _ isUnwanted: SlotReader.Filter
  ) throws(SystemError) -> Attempt {
    let found = try system.status(of: fileName, in: directory.descriptor)
    if let found, !found.isRegularFile {
      // Renaming over a directory fails with an error; links and pipes are replaced, targets
      // untouched.
      return .opened(try replace())
    }
    let descriptor: FileDescriptor
    do throws(SystemError) {
      descriptor = FileDescriptor(
        try system.openFile(
          fileName, in: directory.descriptor, found == nil ? .creating : .updating))
    } catch  where (found == nil && error.isPresent) || (found != nil && error.isMissing) {
      return .changed
    } catch  where error.isReplaceable || (error.isRefusal && !system.isLock(error)) {
      return .opened(try replace())
    }
    guard try system.lock(descriptor.value) else { return .busy }
    let status = try system.status(of: descriptor.value)
    guard try directory.leads(fileName, to: descriptor.value) else { return .changed }
    guard status.isRegularFile, status.isPrivate, status.linkCount == 1 else {
      // A pipe took the name meanwhile, or other users may write to the file. The lock is kept
      // until the replacement has the name.
      return .opened(try replace())
    }
    return try take(descriptor, isEmpty: status.byteCount == 0, usesIndex, isUnwanted)
  }

  /// Takes over a file that is locked and under its name.
  private func take(
    _ descriptor: consuming FileDescriptor, isEmpty: Bool, _ usesIndex: Bool,
    _ isUnwanted: SlotReader.Filter
  ) throws(SystemError) -> Attempt {
    try system.protect(descriptor.value, as: protection)
    if isEmpty {
      // Made a moment ago, by us or by a process that died there; no process can have mapped it.
      let header = freshHeader(layout)
      do throws(SystemError) {
        try writeStart(header, RemovalLog(nonce: header.nonce), to: descriptor.value)
      } catch {
        // A part of it, as a full disk leaves, would be a table to the next opening.
        try? system.unlink(fileName, in: directory.descriptor)
        throw error
      }
      return .opened(try open(descriptor, header))
    }
    let bytes = try system.read(descriptor.value, count: TableLayout.headerByteCount, at: 0)
    // A file of another table under this name holds that table's images.
    guard let header = TableHeader(reading: bytes), header.name == name,
      header.layout.hasSameSlots(as: layout)
    else { return .opened(try replace()) }
    guard header.layout == layout else { return try leave() }
    let opened = try open(descriptor, header, usesIndex: usesIndex, without: isUnwanted)
    // The file is replaced while it is locked, which it is as long as `opened` lives.
    return .opened(opened.hasGenerationsLeft ? opened : try replace())
  }

  private func open(
    _ descriptor: consuming FileDescriptor, _ header: TableHeader, usesIndex: Bool = false,
    without isUnwanted: SlotReader.Filter = { _, _ in false }
  ) throws(SystemError) -> Opened {
    let file = TableFile(
      descriptor: descriptor, header: header, isMapped: mapsFiles, statesPool: statesPool,
      system: system)
    if usesIndex, let index = openIndex(of: file) {
      return Opened(file: file, index: index)
    }
    let index = try file.slotReader.index(
      on: file.states, loadsRecords: file.base == nil, without: isUnwanted)
    return Opened(file: file, index: index)
  }

  private func freshHeader(_ layout: TableLayout) -> TableHeader {
    TableHeader(layout: layout, nonce: .random(in: .min ... .max), name: name)
  }

  /// Writes header and removals. The room of a log that is empty is written too, so that a full
  /// disk does not refuse removals.
  private func writeStart(
    _ header: TableHeader, _ log: RemovalLog, to descriptor: Int32
  ) throws(SystemError) {
    try system.write(header.bytes + log.bytes, to: descriptor, at: 0)
  }

  /// Makes a new file, locks it, and gives it the name.
  private func replace(noting removals: [RemovalLog.Entry] = []) throws(SystemError) -> Opened {
    for _ in 0..<4 {
      if let opened = try replaceOnce(noting: removals) { return opened }
    }
    throw .lostRaces
  }

  /// The same, once; `nil` when another process deleted the unfinished file as a left-over, which
  /// it can do only before the file is locked.
  private func replaceOnce(noting removals: [RemovalLog.Entry]) throws(SystemError) -> Opened? {
    let temporary = TableDirectory.temporaryName(for: fileName)
    let descriptor = FileDescriptor(
      try system.openFile(temporary, in: directory.descriptor, .creating))
    let header = freshHeader(layout)
    do throws(SystemError) {
      guard try system.lock(descriptor.value),
        try system.status(of: descriptor.value).linkCount == 1
      else { return nil }
      try system.protect(descriptor.value, as: protection)
      var log = RemovalLog(nonce: header.nonce)
      for entry in removals { _ = log.note(entry) }
      try writeStart(header, log, to: descriptor.value)
      let opened = try open(descriptor, header)
      try system.rename(temporary, to: fileName, in: directory.descriptor)
      return opened
    } catch {
      // The first error is the one to report; a left-over is swept at the next opening.
      try? system.unlink(temporary, in: directory.descriptor)
      throw error
    }
  }

  /// Leaves a table of another capacity as a guest file, which the owner of a new file takes in.
  private func leave() throws(SystemError) -> Attempt {
    guard TableDirectory.tableName(ofGuest: fileName) == nil else { return .busy }
    let taken = try directory.guestNames(of: fileName)
    let free = TableDirectory.guestNames(for: fileName).first { !taken.contains($0) }
    // With guests of all names its images are lost.
    guard let free else { return .opened(try replace()) }
    try system.rename(fileName, to: free, in: directory.descriptor)
    return .changed
  }
}
