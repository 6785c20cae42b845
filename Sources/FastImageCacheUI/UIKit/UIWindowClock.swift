// UIKit of watchOS has no views.
#if canImport(UIKit) && !os(watchOS)
  import Foundation
  import ImageViewing
  import ObjectiveC
  import UIKit

  /// The updates of a window's scene, which run while something in the window plays and the scene is on screen.
  @MainActor final class UIWindowClock {
    private(set) lazy var players = WindowPlayers { [weak self] in self?.link.isEnabled = $0 }
    private let link: UIUpdateLink

    /// The clock of a window; `nil` for one that is on no screen.
    static func of(_ window: UIWindow) -> UIWindowClock? {
      let key = showingKey.address
      if let clock = objc_getAssociatedObject(window, key) as? UIWindowClock { return clock }
      guard let scene = window.windowScene else { return nil }
      let clock = UIWindowClock(window, scene)
      objc_setAssociatedObject(window, key, clock, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
      return clock
    }

    private init(_ window: UIWindow, _ scene: UIWindowScene) {
      link = UIUpdateLink(windowScene: scene)
      link.isEnabled = false
      link.requiresContinuousUpdates = true
      link.addAction { [weak self, weak window] _, _ in
        guard let self, window?.isHidden == false else { return }
        players.tick(at: ImagePlace.time(of: .now))
      }
    }
  }

  /// Has the clock of the window that it is in ask a place, while that plays: an image view tells nobody of its window,
  /// and a view inside it is told.
  final class UIPlayingView: UIView {
    weak var place: ImagePlace?
    var isTicking = false { didSet { follow() } }
    private weak var clock: UIWindowClock?

    override func didMoveToWindow() { follow() }

    private func follow() {
      guard let place else { return }
      let new = isTicking ? window.flatMap { UIWindowClock.of($0) } : nil
      if clock !== new { clock?.players.remove(place) }
      clock = new
      new?.players.insert(place)
    }
  }

  extension ImagePlace {
    /// Has all places show first frames while the system asks for less motion; further calls do nothing.
    static func watchMotionOfUIKit() { _ = motionOfUIKit }

    private static let motionOfUIKit: any NSObjectProtocol = {
      motionChanged(isReduced: UIAccessibility.isReduceMotionEnabled)
      return NotificationCenter.default.addObserver(
        forName: UIAccessibility.reduceMotionStatusDidChangeNotification, object: nil, queue: nil
      ) { _ in
        // The system reports on the main thread.
        MainActor.assumeIsolated {
          ImagePlace.motionChanged(isReduced: UIAccessibility.isReduceMotionEnabled)
        }
      }
    }()
  }
#endif
