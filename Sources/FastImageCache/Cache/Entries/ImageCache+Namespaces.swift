public import Foundation
import TableStore

extension ImageCache {
  /// The namespaces that have a folder, in alphabetical order: to find those of accounts that are gone.
  ///
  /// A namespace is known from its first opening on, by a file in its folder that carries this library's
  /// mark and the name. Other folders are left out, and no file is touched. A namespace that an older
  /// version of this library made is known after the next opening.
  ///
  /// To delete a namespace, open it without formats: that deletes each of its tables that no cache has
  /// open and, with the last, the file with its name. A cache that is closed without being suspended before
  /// has a table open as long as one of its images is held.
  ///
  /// ```swift
  /// for namespace in try ImageCache.knownNamespaces() where namespace.hasPrefix("account-") {
  ///   await (try ImageCache.open(namespace: namespace, formats: [])).close()
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
}
