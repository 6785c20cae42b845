public import Foundation
import TableStore

extension ImageCache {
  /// The namespaces that have a folder, in alphabetical order: to find those of accounts that are gone.
  ///
  /// A namespace is known from its first opening on, by a file in its folder that carries this library's
  /// mark and the name. Other folders are left out, and no file is touched. A namespace that an older
  /// version of this library made is known after the next opening.
  ///
  /// ```swift
  /// for namespace in try ImageCache.knownNamespaces() where namespace.hasPrefix("account-") {
  ///   try await ImageCache.removeNamespace(namespace)
  /// }
  /// ```
  ///
  /// Cost: reads the folder and one small file for each namespace, on the calling thread.
  ///
  /// - Parameter directory: As ``Configuration/directory``; this program's folder by default.
  /// - Returns: None where there is no such folder.
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)`` when the folder cannot be read.
  public static func knownNamespaces(
    in directory: URL? = nil
  ) throws(ImageCacheError) -> [String] {
    let folder = directory ?? Storage.defaultDirectory
    do throws(TableError) { return try TableDirectory.namespaces(in: folder.path) } catch {
      throw ImageCacheError(error)
    }
  }

  /// Deletes the tables of all known namespaces, for a *Delete cached images* of a program's settings.
  ///
  /// Tables that a cache has open stay, in this process or in another: close the caches before, or empty them by
  /// ``removeAllImages()``. A suspended cache has none open. Stores of originals stay, too. It goes on in a cancelled
  /// task.
  ///
  /// ```swift
  /// try await ImageCache.removeEverything()
  /// ```
  ///
  /// - Parameter directory: As ``Configuration/directory``; this program's folder by default.
  /// - Throws: As ``removeNamespace(_:in:)``; the others are deleted all the same.
  public static func removeEverything(in directory: URL? = nil) async throws(ImageCacheError) {
    var failure: ImageCacheError?
    for namespace in try knownNamespaces(in: directory) {
      do throws(ImageCacheError) {
        try await removeNamespace(namespace, in: directory)
      } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// Deletes the tables of one namespace, such as a signed-out account's; does nothing where there is none.
  ///
  /// Tables that a cache has open stay, in this process or in another: close it before. A suspended cache has none
  /// open. Images that are held stay valid. Stores of originals stay, too. With the last table and the last file of a
  /// process that shared it the namespace is no longer known. It goes on in a cancelled task.
  ///
  /// ```swift
  /// await cache.close()
  /// try await ImageCache.removeNamespace("account-7")
  /// ```
  ///
  /// - Parameters:
  ///   - namespace: As at opening.
  ///   - directory: As ``Configuration/directory``; this program's folder by default. ``directory`` of a cache is a
  ///     folder inside it.
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)`` when a folder cannot be read or changed, and
  ///   ``ImageCacheError/diskFull``.
  public static func removeNamespace(
    _ namespace: String, in directory: URL? = nil
  ) async throws(ImageCacheError) {
    // Not by its name file: on a full disk, and in an older version, tables are made without one.
    guard let name = try? TableDirectory.safeName(for: namespace),
      case let folder = (directory ?? Storage.defaultDirectory).appendingPathComponent(name),
      FileManager.default.fileExists(atPath: folder.path)
    else { return }
    var configuration = Configuration()
    configuration.directory = directory
    configuration.requiresStorage = true
    // A task of its own, which no cancellation reaches: who signs out expects the images to be gone.
    let removal = Task(name: "a removed namespace") {
      [configuration] () async -> Result<Void, ImageCacheError> in
      do throws(ImageCacheError) {
        let cache = try await ImageCache(
          namespace: namespace, formats: [], configuration: configuration)
        await cache.close()
        return .success(())
      } catch { return .failure(error) }
    }
    try await removal.value.get()
  }

  /// The bytes on disk of the tables of all namespaces, whether a cache has them open or not.
  ///
  /// Tables grow in steps, and their unused pages may have no place on disk yet. The small files beside them, of
  /// indexes and times, do not count, nor do stores of originals.
  ///
  /// ```swift
  /// print(try await ImageCache.diskUsage().formatted(.byteCount(style: .file)))
  /// ```
  ///
  /// Cost: opens each table's file, on a thread of its own.
  ///
  /// - Parameter directory: As ``Configuration/directory``; this program's folder by default.
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)`` when a folder cannot be read, and
  ///   ``ImageCacheError/cancelled``.
  public static func diskUsage(in directory: URL? = nil) async throws(ImageCacheError) -> Int {
    let folder = directory ?? Storage.defaultDirectory
    return try await Storage.onWorker { () throws(ImageCacheError) in
      do throws(TableError) {
        var sum = 0
        for namespace in try TableDirectory.namespaces(in: folder.path) {
          for table in try TableDirectory.tables(of: namespace, in: folder.path) {
            sum += table.diskByteCount
          }
        }
        return sum
      } catch { throw ImageCacheError(error) }
    }
  }
}
