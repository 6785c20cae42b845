public import Foundation
public import ImageDrawing
public import ImageSources
import LoadQueue
public import Pixels
import TableStore

extension ImageCache {
  /// Stores a bitmap as the entity's image, drawn as the entity wants it.
  ///
  /// The other formats of the family are drawn anew too, unless the entity says no. A sibling that
  /// cannot be drawn loses its old image, and ``CacheEvent/storeFailed(entity:format:reason:)`` tells
  /// why; this call succeeds all the same. The image answers the requests that wait for it, and
  /// loads under way store no other version over it. A cancellation after the store changes nothing.
  /// ``ImageCache/Configuration/willStore`` sees the image before; where it lets the image be delivered
  /// only, the table keeps the one that it has. A removal, and a later store, do not wait for a store whose
  /// decode goes on: its image is private then, and not stored.
  ///
  /// - Parameters:
  ///   - bitmap: The source image, of any size and pixel format.
  ///   - entity: The image becomes this entity's.
  ///   - format: One of ``formats``.
  ///   - metadata: Bytes to be stored beside the pixels, in every format of the family; none if `nil`.
  ///     A sibling with less room than ``ImageFormat/metadataByteLimit`` asks for loses its image.
  /// - Returns: A lease on the stored image; private if all slots are leased, if the format is not
  ///   stored on this device, or if the hook does not let it be stored.
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``,
  ///   ``ImageCacheError/metadataTooLarge(entity:format:byteCount:limit:)``,
  ///   ``ImageCacheError/drawingFailed(entity:format:underlying:)``,
  ///   ``ImageCacheError/willStoreFailed(entity:underlying:)``, ``ImageCacheError/diskFull``,
  ///   ``ImageCacheError/storageUnavailable(_:)``, ``ImageCacheError/protectedDataUnavailable(format:)``,
  ///   ``ImageCacheError/cancelled``, ``ImageCacheError/closed``.
  @discardableResult
  public func store(
    _ bitmap: Bitmap, for entity: some ImageEntity, format: ImageFormat, metadata: Data? = nil
  ) async throws(ImageCacheError) -> CachedImage {
    try await store(.bitmap(bitmap), metadata, for: try request(for: entity, format: format))
  }

  /// Stores encoded bytes, a JPEG for example, as the entity's image.
  ///
  /// Where the cache has a store of originals, and the entity has a URL, the bytes are kept as its original,
  /// as if the source had delivered them to the account. They are not if the original is removed during this call.
  ///
  /// - Parameters:
  ///   - data: The encoded image.
  ///   - entity: The image becomes this entity's.
  ///   - format: One of ``formats``.
  ///   - metadata: Bytes to be stored beside the pixels; none if `nil`.
  ///   - account: The one whose requests (``LoadOptions/account``) the original answers; `nil` for everyone.
  ///   - keepsOriginal: Whether the bytes are kept as the original. If not, the account's former one goes all the
  ///     same, since it shows another image.
  /// - Throws: As with a bitmap, and ``ImageCacheError/undecodable(_:reason:)`` and
  ///   ``ImageCacheError/imageTooLarge(_:_:)``.
  @discardableResult
  public func store(
    _ data: Data, for entity: some ImageEntity, format: ImageFormat, metadata: Data? = nil,
    account: AccountID? = nil, keepsOriginal: Bool = true
  ) async throws(ImageCacheError) -> CachedImage {
    let request = try request(for: entity, format: format, options: LoadOptions(account))
    // From here: while the originals are opened, removals remember what is older than they are.
    guard registry.beginStore(request.generation) else { throw .closed }
    defer { registry.endStore(request.generation) }
    let original = await beginOriginal(of: request)
    return try await store(
      .encoded(data), metadata, for: request, original, keepsOriginal ? data : nil)
  }

  /// Stores the content of a file as the entity's image, and keeps it as the original as encoded bytes are.
  ///
  /// A thread of this cache reads the file; the cache's source does not. A file with more bytes than
  /// ``DecodingLimits/encodedByteCount`` is refused unread.
  ///
  /// - Parameters:
  ///   - file: A `file` URL. ``image(for:format:)`` loads an image behind another one.
  ///   - entity: The image becomes this entity's.
  ///   - format: One of ``formats``.
  ///   - metadata: Bytes to be stored beside the pixels; none if `nil`.
  ///   - account: As with encoded bytes.
  ///   - keepsOriginal: As with encoded bytes.
  /// - Throws: As with encoded bytes, and ``ImageCacheError/sourceFailed(_:underlying:)`` with an
  ///   ``ImageSourceError``: ``ImageSourceError/unsupportedScheme(_:)`` where `file` is no `file` URL.
  @discardableResult
  public func store(
    contentsOf file: URL, for entity: some ImageEntity, format: ImageFormat,
    metadata: Data? = nil, account: AccountID? = nil, keepsOriginal: Bool = true
  ) async throws(ImageCacheError) -> CachedImage {
    // First, so that no file is read for an unknown format.
    let request = try request(for: entity, format: format, options: LoadOptions(account))
    guard registry.beginStore(request.generation) else { throw .closed }
    defer { registry.endStore(request.generation) }
    let original = await beginOriginal(of: request)
    let bytes = try await bytes(of: file)
    return try await store(
      .encoded(bytes), metadata, for: request, original, keepsOriginal ? bytes : nil)
  }

  /// Stores a bitmap under the id that the hook ``ImageCache/Configuration/willStore`` gives it.
  ///
  /// ```swift
  /// var configuration = ImageCache.Configuration()
  /// configuration.willStore = { image in
  ///   if image.imageID == nil { image.imageID = ImageID(UUID()) }
  /// }
  /// let uploads = try await ImageCache(
  ///   namespace: "uploads", formats: [.row], configuration: configuration)
  /// let bitmap = try Bitmap(contentsOf: URL(fileURLWithPath: "photo.jpg"))
  /// let (id, image) = try await uploads.store(bitmap, format: .row)
  /// ```
  ///
  /// Otherwise as with an entity, the image's family included. The image is found again by an entity
  /// of that id whose ``ImageEntity/versionID(for:)`` is the same id, as it is by default where an entity has
  /// no URL.
  ///
  /// - Parameters:
  ///   - bitmap: The source image, of any size and pixel format.
  ///   - format: One of ``formats``.
  ///   - drawing: How it is laid into the slot, in each format of the family.
  ///   - metadata: Bytes to be stored beside the pixels; none if `nil`.
  /// - Returns: The id, and a lease on the image; private where ``StoredImage/storage`` does not let it
  ///   be stored.
  /// - Throws: As with an entity, ``ImageCacheError/willStoreFailed(entity:underlying:)``, and
  ///   ``ImageCacheError/noImageID(format:)`` where there is no hook or it gives no id.
  public func store(
    _ bitmap: Bitmap, format: ImageFormat, drawing: Drawing = .aspectFill, metadata: Data? = nil
  ) async throws(ImageCacheError) -> (id: ImageID, image: CachedImage) {
    try await store(.bitmap(bitmap), metadata, format, drawing)
  }

  /// Stores encoded bytes under the id that the hook gives them.
  ///
  /// - Throws: As with a bitmap, and ``ImageCacheError/undecodable(_:reason:)`` and
  ///   ``ImageCacheError/imageTooLarge(_:_:)``.
  public func store(
    _ data: Data, format: ImageFormat, drawing: Drawing = .aspectFill, metadata: Data? = nil
  ) async throws(ImageCacheError) -> (id: ImageID, image: CachedImage) {
    try await store(.encoded(data), metadata, format, drawing)
  }

  /// Stores the content of a file under the id that the hook gives it.
  ///
  /// - Parameters:
  ///   - file: A `file` URL.
  ///   - format: One of ``formats``.
  ///   - drawing: How it is laid into the slot, in each format of the family.
  ///   - metadata: Bytes to be stored beside the pixels; none if `nil`.
  /// - Throws: As with encoded bytes, and ``ImageCacheError/sourceFailed(_:underlying:)`` with an
  ///   ``ImageSourceError``.
  public func store(
    contentsOf file: URL, format: ImageFormat, drawing: Drawing = .aspectFill,
    metadata: Data? = nil
  ) async throws(ImageCacheError) -> (id: ImageID, image: CachedImage) {
    // First, so that no file is read for nothing.
    _ = try request(for: NamedByHook(imageID: "", drawing: drawing), format: format)
    if renderer.hook == nil { throw .noImageID(format: format.name) }
    return try await store(.encoded(try await bytes(of: file)), metadata, format, drawing)
  }

  /// Gives a stored image other metadata, or none; its pixels stay, and are not decoded or drawn.
  ///
  /// Leases that exist keep the former metadata. Other formats of the family keep theirs.
  ///
  /// Cost: a copy of the slot, on a thread of the table.
  ///
  /// - Parameters:
  ///   - metadata: Bytes in place of the former ones; none if `nil`.
  ///   - entity: The image's entity.
  ///   - format: One of ``formats``.
  /// - Returns: A lease on the image with its new metadata; `nil` if the table does not have this
  ///   version of it.
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``,
  ///   ``ImageCacheError/metadataTooLarge(entity:format:byteCount:limit:)``,
  ///   ``ImageCacheError/diskFull``, ``ImageCacheError/storageUnavailable(_:)``, also when all slots
  ///   are leased, ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/closed``. The image
  ///   keeps its former metadata then.
  @discardableResult
  public func setMetadata(
    _ metadata: Data?, for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedImage? {
    let request = try request(for: entity, format: format)
    return try await request.table.setMetadata(metadata ?? Data(), for: request.key, recorder)
  }

  private func bytes(of file: URL) async throws(ImageCacheError) -> Data {
    let limit = renderer.decoding.limits.encodedByteCount
    let path: LocalPath
    do throws(ImageSourceError) { path = try LocalPath(file) } catch {
      throw .sourceFailed(file, underlying: error)
    }
    do {
      return try await fileReading.run(priority: .current) { isCancelled in
        try FileReader.read(path, limit: limit, isCancelled: isCancelled)
      }
    } catch {
      if case .cancelled = error { throw .cancelled }
      throw .sourceFailed(file, underlying: error.reason)
    }
  }

  /// At the call, as a load does before it asks: a removal that comes later reaches the original.
  private func beginOriginal(of request: ImageRequest) async -> OriginalAccess? {
    request.url == nil ? nil : await registry.planner.beginOriginal(of: request, isByHand: true)
  }

  /// - Parameters:
  ///   - original: Keeps the original, over what loads under way would keep.
  ///   - bytes: `nil` where none is kept.
  private func store(
    _ content: ImageSourceResponse, _ metadata: Data?, for request: ImageRequest,
    _ original: OriginalAccess? = nil, _ bytes: Data? = nil
  ) async throws(ImageCacheError) -> CachedImage {
    let urgency = Urgency(.current)
    var image = try self.image(from: content, metadata)
    // The caller's format comes first: its requests do not wait for the family.
    let requests = [request] + request.family()
    let stored = try await store(&image, for: requests, urgency)
    guard let original, image.decoded != nil else { return stored }
    original.keep(
      (bytes, ResponseMetadata(received: Date())), of: image, from: nil, isPlaceholder: false,
      for: SharedOriginalLifetime()
    ) {
      _ = registry.remove(.originals(request.key.entity))
      return true
    }
    await original.write?.value
    return stored
  }

  /// Stores an image that no entity names, under the id that the hook gives it.
  private func store(
    _ content: ImageSourceResponse, _ metadata: Data?, _ format: ImageFormat, _ drawing: Drawing
  ) async throws(ImageCacheError) -> (id: ImageID, image: CachedImage) {
    let nobody = try request(for: NamedByHook(imageID: "", drawing: drawing), format: format)
    guard let hook = renderer.hook else { throw .noImageID(format: format.name) }
    let urgency = Urgency(.current)
    var image = try self.image(from: content, metadata)
    try await renderer.lookForFrames(in: &image, for: [nobody] + nobody.family(), urgency)
    let named = try await renderer.name(by: hook, &image, for: nobody, urgency)
    guard let id = named.id else { throw .noImageID(format: format.name) }
    image.answers[id] = .success(named.answer)
    let request = try request(for: NamedByHook(imageID: id, drawing: drawing), format: format)
    return (id, try await store(&image, for: [request] + request.family(), urgency))
  }

  private func image(
    from content: ImageSourceResponse, _ metadata: Data?
  ) throws(ImageCacheError) -> SourceImage {
    var image = try renderer.decoding.image(
      from: content.with(metadata: metadata ?? Data()), url: nil)
    image.way = .storedByHand
    return image
  }

  /// Stores an image in the format of the first request, and then in those of its family.
  private func store(
    _ source: inout SourceImage, for requests: [ImageRequest], _ urgency: Urgency
  ) async throws(ImageCacheError) -> CachedImage {
    let (request, others) = (requests[0], Array(requests.dropFirst()))
    // Here, for images that no table takes and that no table refuses.
    guard registry.beginStore(request.generation) else { throw .closed }
    defer { registry.endStore(request.generation) }
    let image = try await store(request, besides: others, from: &source, urgency)
    guard source.mayBeStored(for: request.key.entity) else { return image }
    for other in others {
      do throws(ImageCacheError) {
        _ = try await store(other, from: &source, urgency)
      } catch {
        await giveUp(other, error)
      }
    }
    return image
  }

  /// Removes the image of a sibling that could not be drawn anew, since it shows another image
  /// than the rest of the family now. Throws nothing: the caller's own format is stored.
  private func giveUp(_ sibling: ImageRequest, _ error: ImageCacheError) async {
    switch error {
    // The table has recorded these.
    case .diskFull, .storageUnavailable, .protectedDataUnavailable, .closed: break
    case .imageTooLarge(_, let reason): recorder.storeFailed(sibling.key, reason: reason)
    default: recorder.storeFailed(sibling.key, reason: error.description)
    }
    // A table that can neither store nor remove keeps the image that it has.
    try? await remove(sibling.key.entity, from: sibling.table)
  }

  private func store(
    _ request: ImageRequest, besides family: [ImageRequest] = [],
    from source: inout SourceImage, _ urgency: Urgency
  ) async throws(ImageCacheError) -> CachedImage {
    typealias Stored = (image: CachedImage, isStored: Bool?, motion: SlotMotion)
    try await renderer.lookForFrames(in: &source, for: [request] + family, urgency)
    let (image, isStored, motion) = try await renderer.draw(
      [request], besides: family, from: &source, urgency: urgency
    ) { [recorder, registry] _, results in
      Result { () throws(ImageCacheError) -> Stored in
        let drawn = try results[0].get()
        guard drawn.mayBeStored else {
          recorder.refused(request.key)
          return (request.table.privateImage(drawn.slot), nil, .still)
        }
        if let refusal = request.table.refusal(of: drawn.metadata, for: request.key) {
          throw refusal
        }
        let (image, isStored) = try request.table.store(
          drawn.slot, for: request.key, recorder, .byHand(at: request.generation),
          oldest: { registry.oldest })
        return (image, isStored, isStored ? drawn.motion : .still)
      }
    }.get()
    if let isStored { registry.satisfy(request.key, with: image, isStored: isStored) }
    if case .stored = motion, case .frames(let frames) = source.motion {
      await storeFrames(frames, behind: FrameDrawing.Item(request, first: image, motion: motion))
      // Those who wait for an animation look into the table.
      registry.satisfy(request.key.animation, with: image, isStored: true)
    }
    return image
  }

  /// Stores the frames behind an image. One that cannot be read or stored leaves the animation incomplete, which is a
  /// miss.
  private func storeFrames(_ frames: SourceFrames, behind item: FrameDrawing.Item) async {
    var drawing = FrameDrawing([item], frames, limits: renderer.decoding.limits)
    do throws(ImageCacheError) {
      while try await !drawing.drawSome(renderer, Urgency(.current), mayStore: { true }) {}
    } catch {
      recorder.storeFailed(item.request.key, reason: error.description)
    }
  }

  /// Draws a bitmap as the entity wants it and stores it, on the calling thread.
  ///
  /// For a cache that no other code has yet: loads under way are not told, and the family is not drawn
  /// along.
  package nonisolated func fill(
    _ bitmap: Bitmap, for entity: some ImageEntity, format: ImageFormat
  ) throws(ImageCacheError) {
    let request = try request(for: entity, format: format)
    let drawn = try renderer.drawing.draw(request, bitmap, of: bitmap.size) { false }.get()
    _ = try request.table.store(
      drawn, for: request.key, recorder, .byHand(at: request.generation), oldest: { .max })
  }
}

extension LoadOptions {
  fileprivate init(_ account: AccountID?) {
    self.init()
    self.account = account
  }
}

/// The entity of an image that the hook names.
private struct NamedByHook: ImageEntity {
  let imageID: ImageID
  let drawing: Drawing

  func sourceURL(for format: ImageFormat) -> URL? { nil }
  func drawing(for format: ImageFormat) -> Drawing { drawing }
}
