import CommandSupport
import FastImageCache
import Foundation

/// Shared by all scenarios: a folder for their tables, the peers, and the galleries.
final class BenchSetting {
  let place: TemporaryFolder
  let effort: Effort
  let peers: PeerLibrary
  /// A Swift program that writes one byte; `nil` where there is none to compare with.
  let emptyProgram: String?
  let photographs: Photographs
  private var galleries: [String: Gallery] = [:]
  private var keptFiles: KeptFiles?
  private var fidelityRecord: FidelityRecord?

  init(effort: Effort, peers: PeerLibrary, emptyProgram: String? = nil) throws {
    place = try TemporaryFolder(prefix: "imagecache-bench")
    self.effort = effort
    self.peers = peers
    self.emptyProgram = emptyProgram
    photographs = Photographs(effort)
  }

  /// 200 x 200 pixels, 160 kB each: the images of a list.
  nonisolated(nonsending) func gallery() async throws -> Gallery {
    try await gallery(
      "usual", count: effort.imageCount, side: 200, roles: [.handle, .touch, .scroll])
  }

  /// 8 x 8 pixels, as many as in the usual one.
  nonisolated(nonsending) func smallGallery() async throws -> Gallery {
    try await gallery("small", count: effort.imageCount, side: 8, roles: [.handle, .open])
  }

  /// 8 x 8 pixels, a hundred times as many.
  nonisolated(nonsending) func largeGallery() async throws -> Gallery {
    try await gallery("large", count: effort.largeCount, side: 8, roles: [.handle, .open])
  }

  /// Originals of 1 kB, as many as the large table has images.
  nonisolated(nonsending) func manyOriginals() async throws -> KeptFiles {
    if let keptFiles { return keptFiles }
    Console.note("keeping \(effort.largeCount) originals")
    let kept = try await KeptFiles.filled(
      "many", count: effort.largeCount, byteCount: 1000, copies: true, setting: self)
    keptFiles = kept
    return kept
  }

  /// The closeness of small images to their photographs, measured once for two scenarios.
  nonisolated(nonsending) func fidelity() async throws -> FidelityRecord {
    if let fidelityRecord { return fidelityRecord }
    let record = try await FidelityRecord(self)
    fidelityRecord = record
    return record
  }

  /// Opens a cache of its own for a scenario.
  nonisolated(nonsending) func makeCache(
    _ namespace: String, formats: [ImageFormat],
    _ configuration: ImageCache.Configuration = .init()
  ) async throws -> ImageCache {
    var configuration = configuration
    configuration.directory = place.url
    return try await ImageCache(
      namespace: namespace, formats: formats, configuration: configuration)
  }

  /// Opens a cache in the scenarios' folder, on the calling thread.
  func openCache(_ namespace: String, formats: [ImageFormat]) throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.directory = place.url
    return try ImageCache.open(namespace: namespace, formats: formats, configuration: configuration)
  }

  /// Runs `body` with a cache of its own and closes it in any case.
  nonisolated(nonsending) func withCache<Result>(
    _ namespace: String, formats: [ImageFormat],
    _ configuration: ImageCache.Configuration = .init(),
    _ body: nonisolated(nonsending) (ImageCache) async throws -> Result
  ) async throws -> Result {
    let cache = try await makeCache(namespace, formats: formats, configuration)
    do {
      let result = try await body(cache)
      await cache.close()
      return result
    } catch {
      await cache.close()
      throw error
    }
  }

  /// Closes the stores of the scenarios before their folder is removed.
  nonisolated(nonsending) func close() async {
    for gallery in galleries.values { await gallery.close() }
    galleries = [:]
    keptFiles = nil
    place.remove()
  }

  private nonisolated(nonsending) func gallery(
    _ name: String, count: Int, side: Int, roles: PeerStore.Roles
  ) async throws -> Gallery {
    if let open = galleries[name] { return open }
    Console.note("filling the \(name) table and its peers with \(count) images")
    let gallery = try await Gallery(
      name, count: count, spareCount: 1, side: side, roles: roles, setting: self)
    galleries[name] = gallery
    return gallery
  }
}

extension ImageCache.Configuration {
  /// The usual configuration, after `change`.
  static func with(_ change: (inout Self) -> Void) -> Self {
    var configuration = Self()
    change(&configuration)
    return configuration
  }
}
