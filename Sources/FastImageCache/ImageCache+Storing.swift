public import Foundation
public import Pixels
import TableStore

extension ImageCache {
  /// Stores a bitmap as the entity's picture, drawn as the entity wants it.
  ///
  /// The other formats of the family are drawn anew too, unless the entity says no. A sibling that
  /// cannot be drawn loses its old picture, and ``CacheEvent/notStored(entity:format:reason:)`` tells
  /// why; this call succeeds all the same. The picture answers the requests that wait for it, and
  /// loads under way store no other version over it. A cancellation after the store changes nothing.
  ///
  /// - Parameters:
  ///   - bitmap: The source picture, of any size and pixel format.
  ///   - entity: The picture becomes this entity's.
  ///   - format: One of ``formats``.
  ///   - metadata: Bytes to be stored beside the pixels, in every format of the family; none if `nil`.
  ///     A sibling with less room than ``ImageFormat/metadataByteLimit`` asks for loses its picture.
  /// - Returns: A lease on the stored picture; private if all slots are leased, or if the format is
  ///   not stored on this device.
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``,
  ///   ``ImageCacheError/metadataTooLarge(entity:format:byteCount:limit:)``,
  ///   ``ImageCacheError/drawingFailed(entity:format:underlying:)``, ``ImageCacheError/diskFull``,
  ///   ``ImageCacheError/storageUnavailable(_:)``, ``ImageCacheError/protectedNow(format:)``,
  ///   ``ImageCacheError/cancelled``, ``ImageCacheError/closed``.
  @discardableResult
  public func store(
    _ bitmap: Bitmap, for entity: some ImageEntity, format: ImageFormat, metadata: Data? = nil
  ) async throws(ImageCacheError) -> CachedImage {
    try await store(.bitmap(bitmap), metadata, for: try request(for: entity, format: format))
  }

  /// Stores encoded bytes, a JPEG for example, as the entity's picture.
  ///
  /// - Throws: As with a bitmap, and ``ImageCacheError/undecodable(_:reason:)`` and
  ///   ``ImageCacheError/pictureTooLarge(_:_:)``.
  @discardableResult
  public func store(
    _ data: Data, for entity: some ImageEntity, format: ImageFormat, metadata: Data? = nil
  ) async throws(ImageCacheError) -> CachedImage {
    try await store(.encoded(data), metadata, for: try request(for: entity, format: format))
  }

  /// Stores the content of a file as the entity's picture.
  ///
  /// A thread of this cache reads the file; the cache's source does not. A file with more bytes than
  /// ``DecodingLimits/encodedByteCount`` is refused unread.
  ///
  /// - Parameters:
  ///   - file: A `file` URL. ``image(for:format:)`` loads a picture behind another one.
  ///   - entity: The picture becomes this entity's.
  ///   - format: One of ``formats``.
  ///   - metadata: Bytes to be stored beside the pixels; none if `nil`.
  /// - Throws: As with encoded bytes, and ``ImageCacheError/sourceFailed(_:underlying:)`` with an
  ///   ``ImageSourceError``: ``ImageSourceError/unsupportedScheme(_:)`` where `file` is no `file` URL.
  @discardableResult
  public func store(
    contentsOf file: URL, for entity: some ImageEntity, format: ImageFormat,
    metadata: Data? = nil
  ) async throws(ImageCacheError) -> CachedImage {
    // First, so that no file is read for an unknown format.
    let request = try request(for: entity, format: format)
    let limit = maker.limits.encodedByteCount
    let path: String
    do throws(ImageSourceError) { path = try FileReader.path(of: file) } catch {
      throw .sourceFailed(file, underlying: error)
    }
    let data: Data
    do {
      data = try await fileReading.run(priority: .current) { isCancelled in
        try FileReader.read(path: path, limit: limit, isCancelled: isCancelled) { _ in }
      }
    } catch {
      if case .cancelled = error { throw .cancelled }
      throw .sourceFailed(file, underlying: error.reason)
    }
    return try await store(.encoded(data), metadata, for: request)
  }

  /// Gives a stored picture other metadata, or none; its pixels stay, and are not decoded or drawn.
  ///
  /// Leases that exist keep the former metadata. Other formats of the family keep theirs.
  ///
  /// Cost: a copy of the slot, on a thread of the table.
  ///
  /// - Parameters:
  ///   - metadata: Bytes in place of the former ones; none if `nil`.
  ///   - entity: The picture's entity.
  ///   - format: One of ``formats``.
  /// - Returns: A lease on the picture with its new metadata; `nil` if the table does not have this
  ///   version of it.
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``,
  ///   ``ImageCacheError/metadataTooLarge(entity:format:byteCount:limit:)``,
  ///   ``ImageCacheError/diskFull``, ``ImageCacheError/storageUnavailable(_:)``, also when all slots
  ///   are leased, ``ImageCacheError/protectedNow(format:)``, ``ImageCacheError/closed``. The picture
  ///   keeps its former metadata then.
  @discardableResult
  public func setMetadata(
    _ metadata: Data?, for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedImage? {
    let request = try request(for: entity, format: format)
    return try await request.table.setMetadata(metadata ?? Data(), for: request.key, recorder)
  }

  private func store(
    _ content: ImageSourceContent, _ metadata: Data?, for request: ImageRequest
  ) async throws(ImageCacheError) -> CachedImage {
    let metadata = metadata ?? Data()
    if let refusal = request.table.refusal(of: metadata, for: request.key) { throw refusal }
    // The caller's format comes first: its waiters do not wait for the family.
    let others = request.family()
    // Loads under way would put an older picture over this one.
    for superseded in [request] + others {
      registry.forbidStoring(.entity(request.key.entity, format: superseded.key.format))
    }
    let urgency = Urgency(.current)
    var picture = try maker.picture(from: content.with(metadata: metadata), url: nil)
    let image = try await store(request, besides: others, from: &picture, urgency)
    for other in others {
      do throws(ImageCacheError) {
        if let refusal = other.table.refusal(of: metadata, for: other.key) { throw refusal }
        _ = try await store(other, from: &picture, urgency)
      } catch {
        await giveUp(other, error)
      }
    }
    return image
  }

  /// Removes the picture of a sibling that could not be drawn anew, since it shows another picture
  /// than the rest of the family now. Throws nothing: the caller's own format is stored.
  private func giveUp(_ sibling: ImageRequest, _ error: ImageCacheError) async {
    switch error {
    // The table has recorded these.
    case .diskFull, .storageUnavailable, .protectedNow, .closed: break
    case .pictureTooLarge(_, let reason): recorder.notStored(sibling.key, reason: reason)
    default: recorder.notStored(sibling.key, reason: error.description)
    }
    // A table that can neither store nor remove keeps the picture that it has.
    try? await remove(sibling.key.entity, from: sibling.table)
  }

  private func store(
    _ request: ImageRequest, besides family: [ImageRequest] = [],
    from picture: inout SourcePicture, _ urgency: Urgency
  ) async throws(ImageCacheError) -> CachedImage {
    let stored = try await maker.draw(
      [request], besides: family, from: &picture, urgency: urgency
    ) { [recorder, registry] request, drawn in
      Result { () throws(ImageCacheError) in
        try request.table.store(try drawn.get(), for: request.key, recorder) {
          // Once more, for loads that began while the picture was drawn; later requests find it.
          registry.forbidStoring(.entity(request.key.entity, format: request.key.format))
          return true
        }
      }
    }
    guard let image = try stored.first?.get() else {
      preconditionFailure("Each request that is drawn has its result.")
    }
    registry.satisfy(request.key, with: image)
    return image
  }
}
