import CommandSupport
import FastImageCache
import Foundation

/// The fetch of one address of a call into all of its formats.
struct ImageFetch: Sendable {
  let url: URL
  /// The place of the address in the call, from 1 on.
  let number: Int
  let photo: FetchedImage
  let formats: [ImageFormat]
  let cache: ImageCache
  let originals: OriginalStore?
  let revalidates: Bool
  let previews: PreviewFolder?
  let display: FetchDisplay

  func run() async -> FetchDisplay.Outcome {
    var options = LoadOptions()
    // A call that was killed may have drawn the image, and not have kept its file.
    let isBrokenOff = await originals?.hasPartial(of: ImageID(url)) ?? false
    if revalidates || isBrokenOff { options.cachePolicy = .revalidate }
    if previews != nil {
      options.previews = PreviewPolicy()
      // An app waits for a moment, since most images are whole by then. This command shows every preview.
      options.previews.delay = .zero
    }
    var origin: ByteOrigin?
    let start = ContinuousClock.now
    for format in formats {
      var isThere = false
      for await step in cache.progress(for: photo, format: format, options: options) {
        let elapsed = ContinuousClock.now - start
        switch step {
        case .receiving(let byteCount, let total): display.receive(url, byteCount, of: total)
        case .preview(let image, let preview):
          if let reason = keep(image, preview.kind, elapsed, format) { return .failed(reason) }
        // A later format that is drawn from the file that was downloaded for the first says nothing new.
        case .arrived(let newer): if origin == nil || origin == .original { origin = newer }
        case .finished(let image):
          if let reason = keep(image, nil, elapsed, format) { return .failed(reason) }
          // Held meanwhile, so that no other image takes its slot.
          isThere = withExtendedLifetime(image) {
            cache.containsImage(for: photo, format: format)
          }
          if !isThere { return .failed(WantedTables.refusal(of: format, in: cache)) }
        case .failed(let error):
          // Asked for the file only: the image is there without it.
          isThere = !revalidates && cache.containsImage(for: photo, format: format)
          if !isThere { return .failed(FailureText.text(of: error)) }
        default: continue
        }
      }
      guard isThere else { return .cancelled }
      if let reason = await bringFrames(in: format) { return .failed(reason) }
      // The server was asked, and all formats were drawn anew if the image has changed.
      options.cachePolicy = .useCache
    }
    return .there(origin)
  }

  /// Waits for the frames behind the first, as far as the table keeps them.
  ///
  /// - Returns: Why they cannot be had.
  private func bringFrames(in format: ImageFormat) async -> String? {
    if cache.hasIntactFrames(of: photo, format: format) { return nil }
    do {
      _ = try await cache.animation(for: photo, format: format)
      return nil
    } catch ImageCacheError.cancelled {
      return nil
    } catch {
      return FailureText.text(of: error)
    }
  }

  /// Writes an image into the folder of previews, if the call has one.
  ///
  /// - Returns: Why it could not.
  private func keep(
    _ image: CachedImage, _ kind: ImagePreview.Kind?, _ elapsed: Duration, _ format: ImageFormat
  ) -> String? {
    guard let previews else { return nil }
    do {
      let file = try previews.write(
        image, kind, after: elapsed, of: url, number: number, in: format)
      if kind != nil { display.note(preview: file, of: url) }
      return nil
    } catch {
      return error.description
    }
  }
}
