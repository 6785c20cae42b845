package import TableStore

/// The records of an index that this process need not own, in the order of their places; each is proven
/// when it is read.
///
/// The file is read by pieces that the processor's caches hold. A first miss waits for this, and most of
/// the time would go to the pages of the whole file in memory, or of an array of its records.
///
/// One loop at most may go over it: all its copies share the memory.
package struct IndexHints: Sequence, IteratorProtocol {
  private let file: IndexPieces?
  private let nonce: UInt64
  /// More than there are records where places are free.
  let placeCount: Int
  private var place = 0
  /// The places whose bytes are in memory.
  private var loaded: Range<Int>

  /// No records.
  init() { (file, nonce, placeCount, loaded) = (nil, 0, 0, 0..<0) }

  /// Reads the header; there are no records in a file without one of this version.
  init(reading file: IndexPieces) throws(TableError) {
    self.file = file
    // The header is where place -1 would be.
    let count = try file.load(from: -1)
    let nonce = count > 0 ? IndexContents.nonce(of: file.bytes(0)) : nil
    self.nonce = nonce ?? 0
    loaded = -1..<count - 1
    placeCount = nonce == nil ? 0 : IndexContents.placeCount(of: file.byteCount)
  }

  /// The error that ended the records too early.
  package var failure: TableError? { file?.failure }

  package mutating func next() -> (place: Int, record: OriginalRecord)? {
    guard let file else { return nil }
    while place < placeCount {
      if place >= loaded.upperBound {
        loaded = place..<place + file.loadOrFail(from: place)
        // The file was cut meanwhile, or cannot be read any more.
        if loaded.isEmpty { return nil }
      }
      defer { place += 1 }
      let bytes = file.bytes(place - loaded.lowerBound)
      if let record = IndexContents.record(bytes, at: place, nonce) { return (place, record) }
    }
    return nil
  }
}

/// An open index, and memory for a part of it.
final class IndexPieces {
  let byteCount: Int
  private(set) var failure: TableError?
  private let file: Int32
  private let folder: OriginalFolder
  private let memory: UnsafeMutableRawBufferPointer

  private static let pieceByteCount = 256 << 10

  /// - Parameter file: Closed with this object.
  init(_ file: OpenFile, in folder: OriginalFolder) throws(TableError) {
    do throws(TableError) {
      memory = try OriginalFolder.memory(byteCount: min(file.byteCount, Self.pieceByteCount))
    } catch {
      SystemCalls.closeFile(file.descriptor)
      throw error
    }
    (self.file, byteCount, self.folder) = (file.descriptor, file.byteCount, folder)
  }

  deinit {
    memory.baseAddress.map(SystemMemory.deallocate)
    SystemCalls.closeFile(file)
  }

  /// Reads the bytes of places from one on.
  ///
  /// - Returns: The number of places that are in memory now.
  func load(from place: Int) throws(TableError) -> Int {
    let size = IndexFile.recordByteCount
    let offset = (place + 1) * size
    let room = UnsafeMutableRawBufferPointer(
      rebasing: memory.prefix(max(0, byteCount - offset)))
    return try folder.wrapping(IndexFile.name) { () throws(SystemError) in
      try folder.system.read(file, into: room, at: offset) / size
    }
  }

  /// As above; none after an error, which stays in `failure`.
  func loadOrFail(from place: Int) -> Int {
    do throws(TableError) { return try load(from: place) } catch {
      failure = error
      return 0
    }
  }

  /// The bytes of one of the places that are in memory, counted from the first; valid until others are
  /// loaded.
  func bytes(_ number: Int) -> UnsafeRawBufferPointer {
    let size = IndexFile.recordByteCount
    return UnsafeRawBufferPointer(memory).part(number * size..<(number + 1) * size)
  }
}
