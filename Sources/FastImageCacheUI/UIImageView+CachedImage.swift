// UIKit of watchOS has no views.
#if canImport(UIKit) && !os(watchOS)
  public import FastImageCache
  public import Foundation
  import ImageViewing
  import ObjectiveC
  public import UIKit

  extension UIImageView {
    /// Shows the entity's picture: at once if the table has it, otherwise the placeholder until the
    /// picture is loaded.
    ///
    /// The view gives up the load that it waited for before, so a reused cell never shows the picture of an
    /// earlier call. The same picture again changes nothing. The load runs at high priority. Set
    /// ``UIKit/UIImageView/image`` by hand after ``endShowingImage()`` only.
    ///
    /// - Parameters:
    ///   - entity: Whose picture; `nil` shows the placeholder.
    ///   - format: One of the cache's formats.
    ///   - cache: Where the picture is kept.
    ///   - placeholder: Shown until the picture is there, and after a failure.
    ///   - fade: Seconds in which a picture that had to be loaded dissolves in. Pictures that are there
    ///     never do.
    ///   - options: How a missing picture is loaded; previews are shown.
    /// - Returns: Whether the picture is on screen by now.
    @discardableResult
    public func showImage<Entity: ImageEntity>(
      of entity: Entity?, format: ImageFormat, from cache: ImageCache,
      placeholder: UIImage? = nil, fade: TimeInterval = 0, options: LoadOptions? = nil
    ) -> ShownFrom {
      shownPicture.show(
        entity.map { PicturePlace.Request($0, format: format, cache: cache, options: options) },
        placeholder: placeholder, fade: fade)
    }

    /// Gives up what this view waits for and lets its picture go: for `prepareForReuse()` and
    /// `didEndDisplaying`.
    ///
    /// A picture in a view that nobody sees keeps its slot from other pictures.
    public func endShowingImage() { shownPicture.end() }

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
