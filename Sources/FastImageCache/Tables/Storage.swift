import Foundation
package import Pixels
import TableStore

/// The folder and the tables of a cache, and how they are opened.
struct Storage: Sendable {
  let directory: URL
  let tables: TableSet

  /// Opens one table for each format, on a worker thread, which waits for the disk.
  static func open(
    namespace: String, formats: [ImageFormat], configuration: ImageCache.Configuration,
    recorder: CacheRecorder
  ) async throws(ImageCacheError) -> Storage {
    try await onWorker { () throws(ImageCacheError) in
      try open(namespace, formats, configuration, recorder)
    }
  }

  /// Runs a job that waits for the disk on a thread of its own.
  static func onWorker<Value: Sendable>(
    _ job: @escaping @Sendable () throws(ImageCacheError) -> Value
  ) async throws(ImageCacheError) -> Value {
    let workers = WorkerPool(name: "FastImageCache.open", width: 1)
    do throws(JobError<ImageCacheError>) {
      return try await workers.run(priority: .current) { _ throws(ImageCacheError) in try job() }
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .refused(let refusal): throw .storageUnavailable("\(refusal)")
      case .failed(let failure): throw failure
      }
    }
  }

  /// Opens them on the calling thread.
  static func open(
    _ namespace: String, _ formats: [ImageFormat], _ configuration: ImageCache.Configuration,
    _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> Storage {
    let parent = configuration.directory ?? defaultDirectory
    let name = try translating { () throws(TableError) in
      try TableDirectory.safeName(for: namespace)
    }
    let folder = parent.appendingPathComponent(name, isDirectory: true)
    let directory = try translating { () throws(TableError) in
      try TableDirectory(path: folder.path, system: configuration.system)
    }
    let tables = try tables(for: formats, in: directory, configuration, recorder)
    // After opening, which locks this cache's tables; `removeTables` leaves locked ones alone.
    try translating { () throws(TableError) in
      _ = try directory.removeTables(except: Set(formats.map(\.name)))
    }
    // Only `knownNamespaces` needs the name, so a cache opens without, on a full disk for example.
    if tables.all.contains(where: \.isStored) {
      try? directory.writeNamespace(namespace)
    } else {
      try? directory.removeNamespace()
    }
    return Storage(directory: folder, tables: tables)
  }

  /// Makes tables in memory, which are empty and never shared.
  static func inMemory(
    _ formats: [ImageFormat], _ configuration: ImageCache.Configuration, _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> Storage {
    let directory = TableDirectory(
      inMemoryOr: FileManager.default.temporaryDirectory.path, system: configuration.system)
    return Storage(
      // Below a device there is nothing, and nothing can be made. The device itself could be removed.
      directory: URL(fileURLWithPath: "/dev/null/image-cache-in-memory", isDirectory: true),
      tables: try tables(for: formats, in: directory, configuration, recorder))
  }

  private static func tables(
    for formats: [ImageFormat], in directory: TableDirectory,
    _ configuration: ImageCache.Configuration, _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> TableSet {
    TableSet(
      try formats.map { format throws(ImageCacheError) in
        let isStored = format.devices.contains(configuration.device)
        return ImageTable(
          format: format, slots: try slots(for: format),
          store: isStored ? try table(for: format, in: directory, recorder) : nil)
      })
  }

  /// Throws the table store's errors as those of the public face.
  private static func translating<Value>(
    _ body: () throws(TableError) -> Value
  ) throws(ImageCacheError) -> Value {
    do throws(TableError) { return try body() } catch { throw ImageCacheError(error) }
  }

  private static func table(
    for format: ImageFormat, in directory: TableDirectory, _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> Table {
    let geometry = try geometry(of: format)
    do throws(TableError) {
      return try Table(
        name: format.name, in: directory, geometry: geometry,
        capacity: TableCapacity(format.capacity), protection: FileProtection(format.protection),
        system: directory.system
      ) { recorder.damaged($0.map { ImageID($0) }, format: format.name) }
    } catch .invalidCapacity {
      throw .invalidFormat(
        format.name, reason: "its capacity, \(format.capacity), is less or more than a table holds")
    } catch .openOtherwise(let slotCount, let protection) {
      throw .invalidFormat(
        format.name,
        reason: "another cache of this process has it open for \(slotCount) pictures, with "
          + "protection \"\(protection)\"; close that one first")
    } catch {
      throw ImageCacheError(error)
    }
  }

  private static func slots(for format: ImageFormat) throws(ImageCacheError) -> PrivateSlots {
    let geometry = try geometry(of: format)
    return try translating { () throws(TableError) in try PrivateSlots(geometry: geometry) }
  }

  private static func geometry(of format: ImageFormat) throws(ImageCacheError) -> TableGeometry {
    guard let layout = PixelLayout(size: format.size, format: format.pixelFormat) else {
      throw .invalidFormat(format.name, reason: "its size is \(format.size)")
    }
    return TableGeometry(
      width: format.size.width, height: format.size.height, rowByteCount: layout.rowBytes,
      pixelFormat: PictureCode(format).rawValue, revision: UInt32(clamping: format.revision))
  }

  /// The folder of caches whose configuration names none.
  static var defaultDirectory: URL {
    ProgramFolder.url.appendingPathComponent("ImageTables", isDirectory: true)
  }
}

/// The number in a table's header that tells how its pictures are drawn, beside their size.
///
/// The low byte is the pixel format. Bit 8 is set where pictures keep their own proportions, bit 10 where
/// they are drawn from the finest decode: a cache must not take a table of one kind for one of the other.
package struct PictureCode: Hashable, Sendable {
  package let pixelFormat: PixelFormat
  package let keepsProportions: Bool
  package let decoding: ImageFormat.Decoding

  package init(_ format: ImageFormat) {
    pixelFormat = format.pixelFormat
    keepsProportions = format.keepsProportions
    decoding = format.decoding
  }

  /// `nil` for a number that no version of this library writes.
  package init?(rawValue: UInt32) {
    let pixelFormat = PixelFormat.allCases.first { $0.code == rawValue & 0xFF }
    guard rawValue & ~0x5FF == 0, let pixelFormat else { return nil }
    self.pixelFormat = pixelFormat
    keepsProportions = rawValue & 0x100 != 0
    decoding = rawValue & 0x400 != 0 ? .finest : .balanced
  }

  package var rawValue: UInt32 {
    pixelFormat.code | (keepsProportions ? 0x100 : 0) | (decoding == .finest ? 0x400 : 0)
  }
}

extension PixelFormat {
  /// Part of the file format: the values of the original library's styles.
  fileprivate var code: UInt32 {
    switch self {
    case .bgra32: 0
    case .bgrx32: 1
    case .bgr16: 2
    case .gray8: 3
    }
  }
}

extension FileProtection {
  init(_ protection: ImageFormat.Protection) {
    self =
      switch protection {
      case .none: .none
      case .complete: .complete
      case .untilFirstUnlock: .untilFirstUnlock
      }
  }
}

extension TableCapacity {
  fileprivate init(_ capacity: ImageFormat.Capacity) {
    switch capacity {
    case .count(let count): self = .slots(count)
    case .bytes(let bytes): self = .bytes(bytes)
    }
  }
}
