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
    /// An image that moves plays if its format keeps the frames, while the view is in a window that can be seen, and
    /// unless the system asks for less motion. Views that show the same animation show the same frame.
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

    /// Whether an image that moves plays; if not, its first frame is shown.
    public var isImageAnimated: Bool {
      get { shownPicture.place.isAnimated }
      set { shownPicture.place.isAnimated = newValue }
    }

    /// Stops at the frame on screen until ``resumeImage()``, and other images at their first frame.
    public func pauseImage() { shownPicture.place.pause() }

    /// Goes on from the frame at which ``pauseImage()`` stopped, by a time of this view's own.
    public func resumeImage() { shownPicture.place.resume() }

    /// Shows the frame at a time since the start of the animation, or the nearest earlier one until it is ready.
    ///
    /// The view goes on from there by a time of its own, unless it is paused. Nothing happens while the frames are not
    /// there.
    public func seekImage(to time: Duration) { shownPicture.place.seek(to: time) }

    private var shownPicture: ShownPicture<UIImage> {
      let key = showingKey.address
      if let shown = objc_getAssociatedObject(self, key) as? ShownPicture<UIImage> { return shown }
      let shown = ShownPicture<UIImage>(
        make: { UIImage($0) }, put: { [weak self] in self?.put($0, fade: $1) },
        setTicking: { [weak self] in self?.setTicking($0, $1) })
      PicturePlace.watchMotionOfUIKit()
      objc_setAssociatedObject(self, key, shown, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
      return shown
    }

    private func setTicking(_ place: PicturePlace, _ isTicking: Bool) {
      let player: UIPlayingView
      if let old = subviews.lazy.compactMap({ $0 as? UIPlayingView }).first {
        player = old
      } else {
        player = UIPlayingView(frame: .zero)
        player.isHidden = true
        addSubview(player)
      }
      player.place = place
      player.isTicking = isTicking
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
