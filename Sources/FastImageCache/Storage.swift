package import Foundation
package import Pixels
import TableStore

/// Opens what a cache keeps on disk.
package struct Storage: Sendable {
  package let directory: URL
  package let tables: TableSet

  /// Opens one table for each format, on a thread that may wait for the disk.
  package static func open(
    namespace: String, formats: [ImageFormat], configuration: ImageCache.Configuration
  ) async throws(ImageCacheError) -> Storage {
    let workers = WorkerPool(name: "FastImageCache.open", width: 1)
    do {
      return try await workers.run(priority: .current) { _ in
        try open(namespace, formats, configuration)
      }
    } catch let error as ImageCacheError {
      throw error
    } catch let error as TableError {
      throw ImageCacheError(error)
    } catch {
      throw .cancelled
    }
  }

  private static func open(
    _ namespace: String, _ formats: [ImageFormat], _ configuration: ImageCache.Configuration
  ) throws -> Storage {
    let parent = configuration.directory ?? defaultDirectory
    let folder = parent.appendingPathComponent(
      try TableDirectory.safeName(for: namespace), isDirectory: true)
    let directory = try TableDirectory(path: folder.path)
    let tables = try formats.map { format in
      let isStored = format.devices.contains(configuration.device)
      return ImageTable(
        format: format, slots: try slots(for: format),
        store: isStored ? try table(for: format, in: directory) : nil)
    }
    // After opening: tables in use are locked, by this process or another, and left alone.
    try directory.removeTables(except: Set(formats.map(\.name)))
    return Storage(directory: folder, tables: TableSet(tables))
  }

  private static func table(
    for format: ImageFormat, in directory: TableDirectory
  ) throws -> Table {
    let geometry = try geometry(of: format)
    let table: Table
    do throws(TableError) {
      table = try Table(
        name: format.name, in: directory, geometry: geometry,
        capacity: TableCapacity(format.capacity))
    } catch .invalidCapacity {
      throw ImageCacheError.invalidFormat(
        format.name, reason: "its capacity, \(format.capacity), is less or more than a table holds")
    }
    FileProtection.apply(format.protection, to: table.path)
    return table
  }

  private static func slots(for format: ImageFormat) throws -> PrivateSlots {
    try PrivateSlots(geometry: try geometry(of: format))
  }

  private static func geometry(of format: ImageFormat) throws(ImageCacheError) -> TableGeometry {
    guard let layout = PixelLayout(size: format.size, format: format.style) else {
      throw .invalidFormat(format.name, reason: "its size is \(format.size)")
    }
    return TableGeometry(
      width: format.size.width, height: format.size.height, rowByteCount: layout.rowBytes,
      pixelFormat: PictureCode(format).rawValue)
  }

  private static var defaultDirectory: URL {
    FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
      .appendingPathComponent("ImageTables", isDirectory: true)
  }
}

/// What a table's header says about its pictures beside their size, as one number.
///
/// The low byte is the pixel format; bit 8 is set where pictures keep their own proportions, since a
/// table of one kind must not be taken for one of the other.
package struct PictureCode: Hashable, Sendable {
  package let style: PixelFormat
  package let keepsProportions: Bool

  package init(_ format: ImageFormat) {
    style = format.style
    keepsProportions = format.keepsProportions
  }

  /// `nil` for a number that no version of this library writes.
  package init?(rawValue: UInt32) {
    guard rawValue >> 9 == 0,
      let style = Self.styles.first(where: { $0.code == rawValue & 0xFF })?.style
    else { return nil }
    self.style = style
    keepsProportions = rawValue & 0x100 != 0
  }

  package var rawValue: UInt32 {
    let code = Self.styles.first { $0.style == style }?.code ?? 0
    return code | (keepsProportions ? 0x100 : 0)
  }

  // These stand on disk: the values of the original library's styles.
  private static let styles: [(style: PixelFormat, code: UInt32)] = [
    (.bgra32, 0), (.bgrx32, 1), (.bgr16, 2), (.gray8, 3),
  ]
}

extension TableCapacity {
  fileprivate init(_ capacity: ImageFormat.Capacity) {
    switch capacity {
    case .count(let count): self = .slots(count)
    case .bytes(let bytes): self = .bytes(bytes)
    }
  }
}
