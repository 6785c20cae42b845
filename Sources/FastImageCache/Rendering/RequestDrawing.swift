import Foundation
import ImageDrawing
import Pixels
import TableStore

/// An image that was drawn for one request.
struct DrawnImage: Sendable {
  let slot: SealedSlot
  let metadata: Data
  /// What the slot tells of the frames behind it.
  let motion: SlotMotion
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
    _ request: ImageRequest, from image: SourceImage, _ bitmap: Bitmap,
    _ isCancelled: @Sendable () -> Bool
  ) -> DrawnResult {
    var answer: HookAnswer?
    do throws(ImageCacheError) {
      answer = try image.answers[request.key.entity]?.get()
    } catch { return .failure(error) }
    let metadata = answer?.metadata ?? image.metadata
    let motion = motion(of: request, image, answer, metadata)
    return draw(
      request, answer?.bitmap ?? bitmap, of: answer?.bitmap?.size ?? image.fullSize,
      source: image.sourceSize, metadata: metadata, motion: motion, isCancelled
    ).map {
      DrawnImage(
        slot: $0, metadata: metadata, motion: motion, mayBeStored: answer?.isStored ?? true)
    }
  }

  /// What becomes of the frames behind a request's image. An image that the hook has changed is a still.
  private func motion(
    of request: ImageRequest, _ image: SourceImage, _ answer: HookAnswer?, _ metadata: Data
  ) -> SlotMotion {
    guard request.wantsFrames, answer?.bitmap == nil else { return .still }
    switch image.motion {
    case .still, nil: return .still
    case .refused: return .unkept(nonce: .random(in: .min ... .max))
    case .frames(let frames):
      if answer?.isStored == false { return .unkept(nonce: frames.nonce) }
      return request.table.motion(
        of: frames.timeline, nonce: frames.nonce, metadataByteCount: metadata.count)
    }
  }

  /// Draws a request from a bitmap.
  ///
  /// - Parameters:
  ///   - source: The size of the source's image, if the slot is to tell it.
  ///   - motion: What the slot tells of the frames behind it.
  ///   - frame: The key of a frame behind the first.
  ///   - isPreview: Whether the drawing counts for nothing.
  func draw(
    _ request: ImageRequest, _ bitmap: Bitmap, of fullSize: PixelSize, source: PixelSize? = nil,
    metadata: Data = Data(), motion: SlotMotion = .still, frame: TableKey? = nil,
    isPreview: Bool = false,
    _ isCancelled: @Sendable () -> Bool
  ) -> Result<SealedSlot, ImageCacheError> {
    let start = ContinuousClock.now
    let format = request.format
    let drawing = request.entity.drawing(for: format)
    do {
      let size = drawing.outputSize(
        source: fullSize, slot: format.size, upTo: format.keepsProportions)
      func fill(_ bytes: UnsafeMutableRawBufferPointer, _ layout: PixelLayout) throws {
        try drawing.draw(
          bitmap, into: bytes, layout: layout, colorSpace: format.colorSpace, scale: format.scale,
          upTo: format.keepsProportions, isCancelled: isCancelled)
      }
      if let frame {
        let slot = try request.table.drawSlot(for: frame, size: size, fill)
        recorder.drew(in: ContinuousClock.now - start)
        return .success(slot)
      }
      let slot = try request.table.drawSlot(
        for: request.key, size: size, source: source, metadata: metadata,
        isDamaged: bitmap.isDamaged,
        motion: motion, fill)
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
