import FastImageCache
import Foundation
import Locking
import TableStore
import TestSupport

/// All operations of a cache, by many tasks at once, with every image compared.
struct MixedLoad: Sendable {
  private static let taskCount = 6
  private static let heldCount = 3
  static let catalogue = (entities: 24, versions: 2)

  let folder: String
  let findings: Findings
  /// A planted fault: images are looked at after their lease was given back.
  var ignoresLeases = false

  /// Fewer than images, so that there is eviction, and more than leases.
  static let format = Photograph.format(capacity: 20)

  /// Does so many operations, shared by the tasks, and closes the cache.
  func run(operations: Int, seed: UInt64) async throws {
    let cache = try await Photograph.cache(in: folder, formats: [Self.format])
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<Self.taskCount {
        group.addTask {
          var random = SplitMix64(state: seed &+ UInt64(task))
          await work(cache, operations: operations / Self.taskCount, using: &random)
        }
      }
    }
    if !Task.isCancelled, await !cache.isQuiet() { findings.report(.other, "loads are left") }
    await cache.close()
  }

  private func work(
    _ cache: ImageCache, operations: Int, using random: inout SplitMix64
  ) async {
    var shown: [Shown] = []
    for _ in 0..<operations {
      if Task.isCancelled { return }
      let photo = ImageVersion(
        entity: Int.random(in: 0..<Self.catalogue.entities, using: &random),
        version: Int.random(in: 0..<Self.catalogue.versions, using: &random))
      let operation = Int.random(in: 0..<100, using: &random)
      if let image = await perform(operation, photo, cache) {
        shown.append(Shown(image, photo, keepsLease: !ignoresLeases))
      }
      if shown.count > Self.heldCount { shown.removeFirst() }
      if let one = shown.randomElement(using: &random) { check(one) }
      findings.count("operations")
    }
    for one in shown { check(one) }
  }

  private func check(_ shown: Shown) {
    findings.count("images compared")
    if !shown.isRight { findings.report(.wrongImage, "\(shown.photo)") }
  }

  private func perform(
    _ operation: Int, _ image: ImageVersion, _ cache: ImageCache
  ) async -> CachedImage? {
    let photograph = Photograph(image)
    do {
      switch operation {
      case 0..<45:
        return try await cache.image(for: photograph, format: Self.format)
      case 45..<70:
        return cache.cachedImage(for: photograph, format: Self.format)
      case 70..<80:
        return try await cache.store(photograph.bitmap(), for: photograph, format: Self.format)
      case 80..<87:
        try await cache.removeImage(for: photograph, format: Self.format)
      case 87..<94:
        await cancel(photograph, cache)
      case 94..<96:
        await cache.prefetch([photograph], format: Self.format)
      case 96:
        try await cache.flush()
      case 97 where !ignoresLeases:
        try await cache.removeAllImages()
      case 98..<100 where !ignoresLeases:
        return try await useSecondOpener(photograph)
      default: break
      }
    } catch ImageCacheError.cancelled {
      findings.count("cancellations")
    } catch {
      findings.report(.other, "\(error)")
    }
    return nil
  }

  /// Cancels a request at once, at any step that it has reached.
  private func cancel(_ photograph: Photograph, _ cache: ImageCache) async {
    let task = Task(name: "a row that scrolls away") { () async -> CachedImage? in
      // An image that came before the cancellation is compared; an error here is the cancellation.
      try? await cache.image(for: photograph, format: Self.format)
    }
    await Task.yield()
    task.cancel()
    if let image = await task.value, !image.shows(photograph.image) {
      findings.report(.wrongImage, "\(photograph.image), cancelled")
    }
    findings.count("cancels")
  }

  /// Another cache on the same tables, opened and closed during the load.
  private func useSecondOpener(_ photograph: Photograph) async throws -> CachedImage {
    let second = try await Photograph.cache(in: folder, formats: [Self.format])
    let image = try await second.image(for: photograph, format: Self.format)
    await second.close()
    findings.count("second openers")
    return image
  }
}

/// A leased image.
private struct Shown {
  let photo: ImageVersion
  private let image: CachedImage?
  /// The address of the pixels; valid as long as the lease, and as long as its file is mapped.
  private let pixels: UnsafeRawBufferPointer

  init(_ image: CachedImage, _ photo: ImageVersion, keepsLease: Bool) {
    self.photo = photo
    // Without its lease an image in private memory would be freed.
    self.image = keepsLease || image.isPrivate ? image : nil
    pixels = UnsafeRawBufferPointer(rebasing: image.entry.pixels[..<image.layout.byteCount])
  }

  var isRight: Bool {
    withExtendedLifetime(image) { photo.isShown(by: pixels, mask: ImageVersion.opaque) }
  }
}
