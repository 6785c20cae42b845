import Foundation
import ImageCodecs
import ImageSources
import Locking
import Pixels

/// Finds the size of an entity's image without decoding it: the entity's own, the kept original's, or that of the
/// first bytes of its source.
///
/// It joins no load and none joins it. Its ``Load`` stands in no registry, and lends its permit only.
struct SourceSizing: Sendable {
  let planner: LoadPlanner
  let decoding: ImageDecoding

  func size(for request: ImageRequest, by load: Load) async throws -> PixelSize {
    let own = try await load.ask(.image(request.key), for: request) {
      try await request.entity.providedImage(for: request.format)
    }
    if let own { return try decoding.size(of: own, url: nil) }
    guard let url = request.url else {
      throw ImageCacheError.noSourceURL(entity: request.key.entity, format: request.format.name)
    }
    if let size = try await keptSize(of: request, by: load) { return size }
    return try await fetchedSize(at: url, for: request, by: load)
  }

  /// The size of the kept original, where that answers requests.
  private func keptSize(of request: ImageRequest, by load: Load) async throws -> PixelSize? {
    guard let originals = planner.originals else { return nil }
    do throws(OriginalsLocked) {
      try await originals.prepare()
      guard let kept = planner.kept(for: request),
        LoadPlan.reads(kept, .useCache, within: .network, showsPlaceholder: false)
      else { return nil }
      if let size = kept.size { return size }
      let query = request.originalQuery(in: planner.namespace)
      // Bytes that are no image are the next load's to drop.
      return try await originals.read(query, urgency: load.urgency).flatMap {
        guard $0.isOfVersion else { return nil }
        return try? decoding.size(of: .encoded($0.bytes), url: request.url)
      }
    } catch {
      return nil
    }
  }

  /// Asks the source, and stops it once its bytes have told the size.
  private func fetchedSize(
    at url: URL, for request: ImageRequest, by load: Load
  ) async throws -> PixelSize {
    try await load.permit.acquire(LoadNeed(for: url, from: planner.source))
    let search = HeaderSearch(decoders: decoding.decoders)
    let limit = decoding.limits.encodedByteCount
    var asking = ImageSourceRequest(
      url: url, urgency: load.urgency, byteCountLimit: limit,
      permit: ReachingPermit(permit: load.permit, scope: .network),
      firstEntity: request.key.entity)
    asking.makeBuffer = {
      DownloadBuffer($0, continuing: $1, byteCountLimit: limit) { buffer, _ in
        search.look(at: buffer)
      }
    }
    // It ends with this call, which awaits and cancels it.
    let fetch = Task(name: "source size") { [asking] in
      try await load.ask(.source(url), for: request) {
        try await planner.source.response(to: asking)
      }
    }
    search.stops(fetch)
    let response = await withTaskCancellationHandler {
      await fetch.result
    } onCancel: {
      fetch.cancel()
    }
    if let size = search.size { return size }
    do {
      return try decoding.size(of: try response.get(), url: url)
    } catch let error as ImageCacheError {
      throw error
    } catch {
      throw ImageCacheError.sourceFailed(url, underlying: error)
    }
  }
}

/// Reads the header of a file whose bytes arrive, and stops them then.
private final class HeaderSearch: Sendable {
  private struct State {
    var size: PixelSize?
    var nextLook = 0
    var fetch: Task<ImageSourceResponse, any Error>?
  }

  private let decoders: [any ImageDecoder]
  private let state = Lock(State())

  init(decoders: [any ImageDecoder]) { self.decoders = decoders }

  var size: PixelSize? { state.withLock { $0.size } }

  /// - Parameter fetch: Cancelled when the size is known.
  func stops(_ fetch: Task<ImageSourceResponse, any Error>) {
    let isKnown = state.withLock { state in
      state.fetch = fetch
      return state.size != nil
    }
    if isKnown { fetch.cancel() }
  }

  /// Called on the thread that delivers the bytes.
  func look(at buffer: DownloadBuffer) {
    let count = buffer.byteCount
    let isDue = state.withLock { state in
      guard state.size == nil, count >= state.nextLook else { return false }
      // Each look copies all bytes: together no more than twice the file.
      state.nextLook = 2 * count
      return true
    }
    guard isDue, let bytes = buffer.copy(0..<count),
      ImageHeader.isSettled(by: bytes),
      let size = try? decoders.decoder(for: bytes).header(of: bytes).size
    else { return }
    let fetch = state.withLock { state in
      state.size = size
      return state.fetch
    }
    fetch?.cancel()
  }
}
