// Mac Catalyst has a part of AppKit, and none of its views.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
  public import AppKit
  public import FastImageCache
  public import Foundation
  public import ImageViewing

  extension NSImageView {
    /// Shows the entity's image: at once if the table has it, otherwise the placeholder until the
    /// image is loaded.
    ///
    /// The view gives up the load that it waited for before, so a reused view never shows the image of an
    /// earlier call. The same image again changes nothing. The load runs at high priority. Set
    /// ``AppKit/NSImageView/image`` by hand after ``cancelImage(_:)`` only.
    ///
    /// An image that moves plays if its format keeps the frames, while the view is in a window that can be seen, and
    /// unless the system asks for less motion. Views that show the same animation show the same frame.
    ///
    /// - Parameters:
    ///   - entity: Whose image; `nil` shows the placeholder.
    ///   - format: One of the cache's formats.
    ///   - cache: Where the image is kept.
    ///   - placeholder: Shown until the image is there, of an entity without an ``ImageEntity/placeholderHash``.
    ///   - failureImage: Shown after a failure; `nil` for the placeholder.
    ///   - fade: Seconds in which an image that had to be loaded dissolves in, which gives the view a
    ///     layer. Images that are there never do.
    ///   - options: How a missing image is loaded; previews are shown.
    ///   - completion: Called once, on the main actor: with the image when it is on screen, for a hit before this call
    ///     returns, or with the failure; with ``ImageCacheError/cancelled`` when the view is told to show something
    ///     else before. Not called without an entity, or after the view is gone.
    /// - Returns: Whether the image is on screen by now.
    @discardableResult
    public func setImage<Entity: ImageEntity>(
      of entity: Entity?, format: ImageFormat, from cache: ImageCache,
      placeholder: NSImage? = nil, failureImage: NSImage? = nil, fade: TimeInterval = 0,
      options: LoadOptions? = nil, completion: ImageCompletion? = nil
    ) -> ShownFrom {
      shownImage.show(
        entity.map { ImagePlace.Request($0, format: format, cache: cache, options: options) },
        .init(placeholder: placeholder, failure: failureImage, fade: fade), completion)
    }

    /// Shows the entity's image as ``setImage(of:format:from:placeholder:failureImage:fade:options:completion:)`` does,
    /// and returns when it is on screen.
    ///
    /// Cancelling the calling task ends what it began, as ``cancelImage(_:)`` does. The view lives until the call
    /// returns.
    ///
    /// - Parameters:
    ///   - entity: Whose image.
    ///   - format: One of the cache's formats.
    ///   - cache: Where the image is kept.
    ///   - placeholder: Shown until the image is there, of an entity without an ``ImageEntity/placeholderHash``.
    ///   - failureImage: Shown after a failure; `nil` for the placeholder.
    ///   - fade: Seconds in which an image that had to be loaded dissolves in.
    ///   - options: How a missing image is loaded; previews are shown.
    /// - Throws: As ``ImageCache/image(for:format:options:)``; ``ImageCacheError/cancelled`` also when the view is told
    ///   to show something else before.
    @discardableResult
    public func loadImage(
      of entity: some ImageEntity, format: ImageFormat, from cache: ImageCache,
      placeholder: NSImage? = nil, failureImage: NSImage? = nil, fade: TimeInterval = 0,
      options: LoadOptions? = nil
    ) async throws(ImageCacheError) -> CachedImage {
      try await shownImage.load(
        ImagePlace.Request(entity, format: format, cache: cache, options: options),
        .init(placeholder: placeholder, failure: failureImage, fade: fade)
      ).get()
    }

    /// Shows an image that the program has loaded, as if this view had loaded it for an entity.
    ///
    /// The same entity again changes nothing, and the view looks again when it is told that the entity's image changed.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - entity: Whose image it is.
    ///   - format: The image's format.
    ///   - cache: Where the image is kept.
    ///   - fade: Seconds in which it dissolves in.
    public func setImage(
      _ image: CachedImage, of entity: some ImageEntity, format: ImageFormat,
      from cache: ImageCache, fade: TimeInterval = 0
    ) {
      shownImage.show(
        image, of: ImagePlace.Request(entity, format: format, cache: cache), .init(fade: fade))
    }

    /// Lets the view's image go: for `prepareForReuse()` and `didEndDisplaying`.
    ///
    /// An image in a view that nobody sees keeps its slot from other images.
    ///
    /// - Parameter behavior: What becomes of the load that the view waits for.
    public func cancelImage(_ behavior: DisappearBehavior = .cancel) { shownImage.end(behavior) }

    /// Whether a progress indicator turns over the placeholder while an image is loaded, from the next image on; not by
    /// default.
    public var showsImageIndicator: Bool {
      get { shownImage.showsIndicator }
      set { shownImage.showsIndicator = newValue }
    }

    /// Whether an image that moves plays; if not, its first frame is shown.
    public var isImageAnimated: Bool {
      get { shownImage.place.isAnimated }
      set { shownImage.place.isAnimated = newValue }
    }

    /// Stops at the frame on screen until ``resumeImage()``, and other images at their first frame.
    public func pauseImage() { shownImage.place.pause() }

    /// Goes on from the frame at which ``pauseImage()`` stopped, by a time of this view's own.
    public func resumeImage() { shownImage.place.resume() }

    /// Shows the frame at a time since the start of the animation, or the nearest earlier one until it is ready.
    ///
    /// The view goes on from there by a time of its own, unless it is paused. Nothing happens while the frames are not
    /// there.
    public func seekImage(to time: Duration) { shownImage.place.seek(to: time) }
  }
#endif
