import Foundation
import LoadQueue
import Pixels
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
      throw ImageCacheError(error) { $0 }
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
    let directory: TableDirectory
    do throws(TableError) {
      directory = try TableDirectory(
        path: folder.path, memoryFolder: memoryFolder, system: configuration.system)
    } catch {
      guard error.isOfStorage, !configuration.requiresStorage else { throw ImageCacheError(error) }
      return try inMemory(formats, configuration, recorder, in: folder, because: error)
    }
    for warning in directory.warnings {
      recorder.send(.insecureFolder(folder, reason: warning))
    }
    let tables = try tables(for: formats, in: directory, configuration, recorder)
    // After opening, which locks this cache's tables; `removeTables` leaves locked ones alone.
    do throws(TableError) {
      _ = try directory.removeTables(except: Set(formats.map(\.name)))
    } catch {
      // Old tables take space and do no harm.
      if configuration.requiresStorage { throw ImageCacheError(error) }
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
  ///
  /// - Parameters:
  ///   - folder: The cache's folder. By default one below a device, where nothing is and nothing can be made; the
  ///     device itself could be removed.
  ///   - refusal: Why the folder cannot be used.
  static func inMemory(
    _ formats: [ImageFormat], _ configuration: ImageCache.Configuration, _ recorder: CacheRecorder,
    in folder: URL = URL(fileURLWithPath: "/dev/null/image-cache-in-memory", isDirectory: true),
    because refusal: TableError? = nil
  ) throws(ImageCacheError) -> Storage {
    let directory = TableDirectory(
      inMemoryOr: memoryFolder, because: refusal, system: configuration.system)
    return Storage(
      directory: folder, tables: try tables(for: formats, in: directory, configuration, recorder))
  }

  private static var memoryFolder: String { FileManager.default.temporaryDirectory.path }

  private static func tables(
    for formats: [ImageFormat], in directory: TableDirectory,
    _ configuration: ImageCache.Configuration, _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> TableSet {
    TableSet(
      try formats.map { format throws(ImageCacheError) in
        let isStored = format.devices.contains(configuration.device)
        return ImageTable(
          format: format, slots: try slots(for: format),
          store: isStored
            ? try table(
              for: format, in: directory, fallsBack: !configuration.requiresStorage,
              showsDamaged: configuration.damagedImages == .showPart, recorder) : nil)
      })
  }

  /// Throws the table store's errors as those of the public face.
  private static func translating<Value>(
    _ body: () throws(TableError) -> Value
  ) throws(ImageCacheError) -> Value {
    do throws(TableError) { return try body() } catch { throw ImageCacheError(error) }
  }

  private static func table(
    for format: ImageFormat, in directory: TableDirectory, fallsBack: Bool, showsDamaged: Bool,
    _ recorder: CacheRecorder
  ) throws(ImageCacheError) -> Table {
    let geometry = try geometry(of: format)
    do throws(TableError) {
      return try Table(
        name: format.name, in: directory, geometry: geometry,
        capacity: TableCapacity(format.capacity), protection: FileProtection(format.protection),
        showsDamaged: showsDamaged, fallsBack: fallsBack, system: directory.system
      ) { recorder.noticed($0, format: format.name) }
    } catch .invalidCapacity {
      throw .invalidFormat(
        format.name, reason: "its capacity, \(format.capacity), is less or more than a table holds")
    } catch .openOtherwise(let slotCount, let protection) {
      throw .invalidFormat(
        format.name,
        reason: "another cache of this process has it open for \(slotCount) images, with "
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
      pixelFormat: ImageCode(format).rawValue, revision: UInt32(clamping: format.revision))
  }

  /// The folder of caches whose configuration names none.
  static var defaultDirectory: URL {
    ProgramFolder.url.appendingPathComponent("ImageTables", isDirectory: true)
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
