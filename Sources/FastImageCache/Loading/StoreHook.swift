import Foundation
import Pixels

/// Asks ``ImageCache/Configuration/willStore`` about decoded pictures, before they are drawn.
///
/// A picture under a hook is decoded, asked about, drawn, and then stored or only delivered:
///
///     decode (a worker's job) ──> hook (the task of the load or the store) ──> draw, store (a worker's job)
///
/// Invariants:
/// 1. The hook holds no worker, no budget of bytes and no turn of a table: the job that decodes is over
///    before, and the job that draws begins afterwards. So a hook may wait for other pictures of the
///    cache. A load that waits for one returns its permit, as it does for its source.
/// 2. Each answer belongs to one entity. It is used once for each format that the hook was told of, and
///    for no other entity of the same URL.
/// 3. A load asks the hook only while it has waiters, and ends with the last of them; see
///    ``FlightBoard/endsWithWaiters(_:)``. Requests that an earlier
///    answer serves are drawn before the next question; the hook is asked for all others before the
///    first of them is drawn.
/// 4. The decode and the hook's bitmap stay in memory until the load is over. Loads under way bound
///    their number, but for loads that returned their permit.
struct StoreHook: Sendable {
  let willStore: ImageCache.Configuration.WillStore

  /// Lets the hook look at a picture and change it.
  ///
  /// - Throws: ``ImageCacheError/willStoreFailed(entity:underlying:)``; ``ImageCacheError/cancelled``
  ///   where the task is cancelled, whatever the hook throws.
  func ask(_ image: inout PendingImage) async throws(ImageCacheError) {
    do { try await willStore(&image) } catch {
      if Task.isCancelled { throw .cancelled }
      throw .willStoreFailed(
        entity: image.imageID, underlying: CircularPictureError(in: error) ?? error)
    }
  }
}

/// Requests that are drawn from one answer of the hook.
struct DrawingBatch: Sendable {
  let requests: [ImageRequest]
  var picture: SourcePicture
}

extension SourcePicture {
  /// The picture as the hook has left it.
  func changed(by image: PendingImage) -> SourcePicture {
    var changed = self
    // Only where it was exchanged: the decode has edges and colours that its copy for the hook lacks.
    if image.isChanged {
      var bitmap = image.bitmap
      // What the hook makes of a part is no more than a part.
      bitmap.isDamaged = bitmap.isDamaged || decoded?.isDamaged == true
      changed = SourcePicture(url: url, content: .bitmap, decoded: bitmap)
    }
    changed.answers = [:]
    changed.metadata = image.metadata ?? Data()
    changed.isStored = image.verdict == .store
    return changed
  }
}

extension ImageLoader {
  /// Asks the hook about the pictures of some requests. Requests that cannot be drawn, or for which the
  /// hook fails, are answered with the error.
  ///
  /// - Parameters:
  ///   - family: Pictures that will be drawn later. The answers for those of the same entities are kept in
  ///     `picture`; one that needs a larger decode than there can be has none, and waits until it is asked
  ///     for.
  /// - Returns: What is left to draw; nothing if nobody waits any more.
  /// - Throws: The error that ends the load.
  func ask(
    _ hook: StoreHook, for requests: [ImageRequest], besides family: [ImageRequest],
    from picture: inout SourcePicture, _ flight: Flight
  ) async throws(ImageCacheError) -> [DrawingBatch] {
    guard !requests.isEmpty, flight.endsWithWaiters() else { return [] }
    var known = Set(requests.map(\.key)).union(picture.answers.keys)
    let entities = Set(requests.map(\.key.entity))
    let siblings = family.filter {
      entities.contains($0.key.entity) && known.insert($0.key).inserted
    }
    return try await decodeAndAsk(hook, for: requests, besides: siblings, from: &picture, flight)
  }

  /// Asks about one decode for all, or about smaller ones where that would be too large.
  private func decodeAndAsk(
    _ hook: StoreHook, for requests: [ImageRequest], besides siblings: [ImageRequest],
    from picture: inout SourcePicture, _ flight: Flight
  ) async throws(ImageCacheError) -> [DrawingBatch] {
    let bitmap: Bitmap
    do {
      bitmap = try await maker.decode(
        for: requests + siblings, from: &picture, urgency: flight.urgency,
        progress: flight.progress)
    } catch {
      guard case .pictureTooLarge = error else { throw error }
      if !siblings.isEmpty {
        return try await decodeAndAsk(hook, for: requests, besides: [], from: &picture, flight)
      }
      if requests.count > 1 {
        return try await askApart(hook, for: requests, from: &picture, flight)
      }
      refuse(requests, with: error, flight)
      return []
    }
    var batches: [DrawingBatch] = []
    var asked: Set<ImageID> = []
    for entity in requests.map(\.key.entity) where asked.insert(entity).inserted {
      let own = requests.filter { $0.key.entity == entity }
      let along = siblings.filter { $0.key.entity == entity }
      var image = PendingImage(bitmap, of: picture, for: own + along, origin: .load)
      do {
        try await flight.ask(.willStore(entity), of: own) { try await hook.ask(&image) }
      } catch {
        guard let failure = error as? ImageCacheError, !failure.isCancellation else {
          throw .cancelled
        }
        refuse(own, with: failure, flight)
        continue
      }
      let answer = picture.changed(by: image)
      batches.append(DrawingBatch(requests: own, picture: answer))
      guard answer.isStored else { continue }
      for sibling in along { picture.answers[sibling.key] = answer }
    }
    return batches
  }

  /// Asks about a decode for each request. The others have their pictures, or their own errors.
  private func askApart(
    _ hook: StoreHook, for requests: [ImageRequest], from picture: inout SourcePicture,
    _ flight: Flight
  ) async throws(ImageCacheError) -> [DrawingBatch] {
    var batches: [DrawingBatch] = []
    for request in requests {
      do throws(ImageCacheError) {
        batches += try await decodeAndAsk(
          hook, for: [request], besides: [], from: &picture, flight)
      } catch {
        if error.isCancellation { throw error }
        refuse([request], with: error, flight)
      }
    }
    return batches
  }

  private func refuse(
    _ requests: [ImageRequest], with error: ImageCacheError, _ flight: Flight
  ) {
    for request in requests {
      flight.finish(request.key, isFetched: false, with: .failure(error))
    }
  }
}
