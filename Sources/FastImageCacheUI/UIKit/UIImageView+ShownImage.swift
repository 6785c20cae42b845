// UIKit of watchOS has no views.
#if canImport(UIKit) && !os(watchOS)
  import FastImageCache
  import Foundation
  import ImageViewing
  import ObjectiveC
  import UIKit

  extension UIImageView {
    /// What the view shows; made at its first use.
    var shownImage: ShownImage<UIImage> {
      let key = showingKey.address
      if let shown = objc_getAssociatedObject(self, key) as? ShownImage<UIImage> { return shown }
      let shown = ShownImage<UIImage>(
        make: { UIImage($0) },
        makeHashed: { UIImage(cgImage: $0, scale: $1, orientation: .up) },
        put: { [weak self] in self?.put($0, fade: $1) },
        setIndicating: { [weak self] in self?.setIndicating($0) },
        setTicking: { [weak self] in self?.setTicking($0, $1) })
      ImagePlace.watchMotionOfUIKit()
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

    private func setIndicating(_ isIndicating: Bool) {
      let old = subviews.lazy.compactMap { $0 as? UIImageIndicatorView }.first
      guard isIndicating else {
        old?.stopAnimating()
        return
      }
      let indicator = old ?? UIImageIndicatorView(style: .medium)
      if old == nil {
        addSubview(indicator)
        indicator.translatesAutoresizingMaskIntoConstraints = false
        NSLayoutConstraint.activate([
          indicator.centerXAnchor.constraint(equalTo: centerXAnchor),
          indicator.centerYAnchor.constraint(equalTo: centerYAnchor),
        ])
      }
      indicator.startAnimating()
    }

    private func setTicking(_ place: ImagePlace, _ isTicking: Bool) {
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
  }

  /// The indicator of an image view, told from those of the program.
  private final class UIImageIndicatorView: UIActivityIndicatorView {}
#endif
