public import Foundation
public import Pixels
import TableStore

extension ImageCache {
  /// Stores a bitmap as the entity's picture, drawn as the entity wants it.
  ///
  /// The other formats of the family are drawn anew too, unless the entity says no; those for which
  /// the picture is too large are removed. Requests that wait for this picture are answered with it,
  /// and loads under way store no other version over it. What is stored stays stored: a cancellation
  /// that comes afterwards changes nothing.
  ///
  /// - Parameters:
  ///   - bitmap: The source picture, of any size and pixel format.
  ///   - entity: Whose picture.
  ///   - format: One of ``formats``.
  /// - Returns: A lease on what was stored; private if all slots are leased, or if the format is
  ///   not stored on this device.
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``,
  ///   ``ImageCacheError/drawingFailed(entity:format:underlying:)``, ``ImageCacheError/diskFull``,
  ///   ``ImageCacheError/storageUnavailable(_:)``, ``ImageCacheError/protectedNow(format:)``,
  ///   ``ImageCacheError/cancelled``, ``ImageCacheError/closed``.
  @discardableResult
  public func store(
    _ bitmap: Bitmap, for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedImage {
    try await store(.bitmap(bitmap), for: entity, format: format)
  }

  /// Stores encoded bytes, a JPEG for example, as the entity's picture.
  ///
  /// - Throws: As with a bitmap, and ``ImageCacheError/undecodable(_:reason:)`` and
  ///   ``ImageCacheError/pictureTooLarge(_:_:)``.
  @discardableResult
  public func store(
    _ data: Data, for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedImage {
    try await store(.encoded(data), for: entity, format: format)
  }

  /// Stores what a file holds as the entity's picture.
  ///
  /// - Throws: As with encoded bytes, and ``ImageCacheError/sourceFailed(_:underlying:)``.
  @discardableResult
  public func store(
    contentsOf file: URL, for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedImage {
    let request = ImageSourceRequest(
      url: file, priority: Task.currentPriority, byteCountLimit: artist.limits.encodedByteCount)
    let content: ImageSourceContent
    do {
      content = try await URLImageSource().load(request) { _ in }
    } catch is CancellationError {
      throw .cancelled
    } catch {
      throw .sourceFailed(file, underlying: error)
    }
    return try await store(content, for: entity, format: format)
  }

  private func store(
    _ content: ImageSourceContent, for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedImage {
    let request = try request(for: entity, format: format)
    // The caller's format first; whoever waits for it does not wait for the family.
    let others = request.family()
    // Loads under way would put an older picture over this one.
    for superseded in [request] + others {
      registry.forbidStoring(.entity(request.key.entity, format: superseded.key.format))
    }
    let urgency = Urgency(.current)
    var picture = try artist.picture(from: content, url: nil)
    let image = try await store(request, besides: others, from: &picture, urgency)
    for other in others {
      do {
        _ = try await store(other, besides: [], from: &picture, urgency)
      } catch {
        guard case .pictureTooLarge(_, let reason) = error else { throw error }
        journal.notStored(other.key, reason: reason)
        // What is there shows another picture than the rest of the family now.
        try await remove(other.key.entity, from: other.table)
      }
    }
    return image
  }

  private func store(
    _ request: ImageRequest, besides family: [ImageRequest], from picture: inout SourcePicture,
    _ urgency: Urgency
  ) async throws(ImageCacheError) -> CachedImage {
    // Asked right before the picture is stored, once more for loads that began while it was drawn;
    // whoever asks later finds it.
    let supersedeLoads: @Sendable () -> Bool = { [registry] in
      registry.forbidStoring(.entity(request.key.entity, format: request.key.format))
      return true
    }
    let drawn = try await artist.draw(
      [request], besides: family, from: &picture, urgency: urgency, report: { _ in },
      deliver: { [journal] request, result -> Result<CachedImage, ImageCacheError>? in
        guard case .success(let slot) = result else { return nil }
        do throws(ImageCacheError) {
          return try request.table.storeIfIdle(
            slot, for: request.key, journal, if: supersedeLoads
          ).map { .success($0) }
        } catch {
          return .failure(error)
        }
      })
    let image: CachedImage
    switch drawn.first {
    case .delivered(let stored): image = try stored.get()
    case .left(let result):
      image = try await request.table.store(
        try result.get(), for: request.key, journal, if: supersedeLoads)
    case nil: preconditionFailure("Each request that is drawn has its result.")
    }
    registry.satisfy(request.key, with: image)
    return image
  }
}
