// Mac Catalyst has a part of AppKit, and none of its views.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
  import AppKit
  import FastImageCache
  import Foundation
  import ImageViewing
  import ObjectiveC
  import QuartzCore

  extension NSImageView {
    /// What the view shows; made at its first use.
    var shownImage: ShownImage<NSImage> {
      let key = showingKey.address
      if let shown = objc_getAssociatedObject(self, key) as? ShownImage<NSImage> { return shown }
      let shown = ShownImage<NSImage>(
        make: { NSImage($0) },
        makeHashed: { image, scale in
          NSImage(
            cgImage: image,
            size: NSSize(
              width: CGFloat(image.width) / scale, height: CGFloat(image.height) / scale))
        }, put: { [weak self] in self?.put($0, fade: $1) },
        setIndicating: { [weak self] in self?.setIndicating($0) },
        setTicking: { [weak self] in self?.setTicking($0, $1) })
      ImagePlace.watchMotionOfAppKit()
      objc_setAssociatedObject(self, key, shown, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
      return shown
    }

    private func put(_ image: NSImage?, fade: TimeInterval) {
      if fade > 0 {
        wantsLayer = true
        let transition = CATransition()
        transition.type = .fade
        transition.duration = fade
        layer?.add(transition, forKey: "image")
      }
      self.image = image
    }

    private func setIndicating(_ isIndicating: Bool) {
      let old = subviews.lazy.compactMap { $0 as? NSImageIndicatorView }.first
      guard isIndicating else {
        old?.stopAnimation(nil)
        return
      }
      let indicator = old ?? NSImageIndicatorView(frame: .zero)
      if old == nil {
        indicator.style = .spinning
        indicator.controlSize = .small
        indicator.isDisplayedWhenStopped = false
        addSubview(indicator)
        indicator.translatesAutoresizingMaskIntoConstraints = false
        NSLayoutConstraint.activate([
          indicator.centerXAnchor.constraint(equalTo: centerXAnchor),
          indicator.centerYAnchor.constraint(equalTo: centerYAnchor),
        ])
      }
      indicator.startAnimation(nil)
    }

    private func setTicking(_ place: ImagePlace, _ isTicking: Bool) {
      let player: NSPlayingView
      if let old = subviews.lazy.compactMap({ $0 as? NSPlayingView }).first {
        player = old
      } else {
        player = NSPlayingView(frame: .zero)
        player.isHidden = true
        addSubview(player)
      }
      player.place = place
      player.isTicking = isTicking
    }
  }

  /// The indicator of an image view, told from those of the program.
  private final class NSImageIndicatorView: NSProgressIndicator {}
#endif
