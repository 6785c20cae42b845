// UIKit of watchOS has no views.
#if canImport(UIKit) && !os(watchOS)
  public import FastImageCache
  public import Foundation
  import ImageViewing
  import ObjectiveC
  public import UIKit

  extension UIImageView {
    /// Shows the entity's image: at once if the table has it, otherwise the placeholder until the
    /// image is loaded.
    ///
    /// The view gives up the load that it waited for before, so a reused cell never shows the image of an
    /// earlier call. The same image again changes nothing. The load runs at high priority. Set
    /// ``UIKit/UIImageView/image`` by hand after ``cancelImage()`` only.
    ///
    /// - Parameters:
    ///   - entity: Whose image; `nil` shows the placeholder.
    ///   - format: One of the cache's formats.
    ///   - cache: Where the image is kept.
    ///   - placeholder: Shown until the image is there, and after a failure.
    ///   - fade: Seconds in which an image that had to be loaded dissolves in. Images that are there
    ///     never do.
    ///   - options: How a missing image is loaded; previews are shown.
    /// - Returns: Whether the image is on screen by now.
    @discardableResult
    public func setImage<Entity: ImageEntity>(
      of entity: Entity?, format: ImageFormat, from cache: ImageCache,
      placeholder: UIImage? = nil, fade: TimeInterval = 0, options: LoadOptions? = nil
    ) -> ShownFrom {
      shownPicture.show(
        entity.map { PicturePlace.Request($0, format: format, cache: cache, options: options) },
        placeholder: placeholder, fade: fade)
    }

    /// Gives up what this view waits for and lets its image go: for `prepareForReuse()` and
    /// `didEndDisplaying`.
    ///
    /// An image in a view that nobody sees keeps its slot from other images.
    public func cancelImage() { shownPicture.end() }

    private var shownPicture: ShownPicture<UIImage> {
      let key = showingKey.address
      if let shown = objc_getAssociatedObject(self, key) as? ShownPicture<UIImage> { return shown }
      let shown = ShownPicture<UIImage>(
        make: { UIImage($0) }, put: { [weak self] in self?.put($0, fade: $1) })
      objc_setAssociatedObject(self, key, shown, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
      return shown
    }

    private func put(_ image: UIImage?, fade: TimeInterval) {
      guard fade > 0 else {
        self.image = image
        return
      }
      UIView.transition(
        with: self, duration: fade, options: [.transitionCrossDissolve, .allowUserInteraction],
        animations: { self.image = image }, completion: nil)
    }
  }
#endif
