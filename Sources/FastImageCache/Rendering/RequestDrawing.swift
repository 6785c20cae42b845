import Foundation
import ImageDrawing
import Pixels
import TableStore

/// An image that was drawn for one request.
struct DrawnImage: Sendable {
  let slot: SealedSlot
  let metadata: Data
  /// False where the hook lets the image be delivered only.
  let mayBeStored: Bool
}

/// A drawn image, or the error of its request.
typealias DrawnResult = Result<DrawnImage, ImageCacheError>

/// Draws bitmaps for requests, on the calling thread.
struct RequestDrawing: Sendable {
  let recorder: CacheRecorder

  /// Draws a request from a decode, or from what the hook has made of it.
  func draw(
    _ request: ImageRequest, from picture: SourcePicture, _ bitmap: Bitmap,
    _ isCancelled: @Sendable () -> Bool
  ) -> DrawnResult {
    var answer: HookAnswer?
    do throws(ImageCacheError) {
      answer = try picture.answers[request.key.entity]?.get()
    } catch { return .failure(error) }
    let metadata = answer?.metadata ?? picture.metadata
    return draw(
      request, answer?.bitmap ?? bitmap, of: answer?.bitmap?.size ?? picture.fullSize,
      metadata: metadata, isCancelled
    ).map { DrawnImage(slot: $0, metadata: metadata, mayBeStored: answer?.isStored ?? true) }
  }

  /// Draws a request from a bitmap.
  ///
  /// - Parameter isPreview: Whether the drawing counts for nothing.
  func draw(
    _ request: ImageRequest, _ bitmap: Bitmap, of fullSize: PixelSize, metadata: Data = Data(),
    isPreview: Bool = false, _ isCancelled: @Sendable () -> Bool
  ) -> Result<SealedSlot, ImageCacheError> {
    let start = ContinuousClock.now
    let format = request.format
    let drawing = request.entity.drawing(for: format)
    do {
      let size = drawing.outputSize(
        source: fullSize, slot: format.size, upTo: format.keepsProportions)
      let slot = try request.table.drawSlot(
        for: request.key, size: size, metadata: metadata, isDamaged: bitmap.isDamaged
      ) { bytes, layout in
        try drawing.draw(
          bitmap, into: bytes, layout: layout, colorSpace: format.colorSpace, scale: format.scale,
          upTo: format.keepsProportions, isCancelled: isCancelled)
      }
      if !isPreview {
        recorder.drew(in: ContinuousClock.now - start)
        if bitmap.isDamaged { recorder.drewDamaged(request.key) }
      }
      return .success(slot)
    } catch {
      // A closure may throw any error when it is cancelled.
      if isCancelled() { return .failure(.cancelled) }
      // What a closure throws is its user's own: one wrapping says all.
      let reason = if case .closureFailed(let own)? = error as? DrawingError { own } else { error }
      return .failure(
        .drawingFailed(entity: request.key.entity, format: format.name, underlying: reason))
    }
  }
}
