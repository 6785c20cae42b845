// Mac Catalyst has a part of AppKit, and none of its views.
#if canImport(AppKit) && !targetEnvironment(macCatalyst)
  import AppKit
  import Dispatch
  import Foundation
  import ImageViewing
  import ObjectiveC

  /// Ticks for a window, sixty a second, while something in the window plays and a part of the window can be seen.
  @MainActor final class NSWindowClock {
    private(set) lazy var players = WindowPlayers { [weak self] in
      self?.isRunning = $0
      self?.wait()
    }
    private weak var window: NSWindow?
    private var isRunning = false
    private var isWaiting = false

    /// The clock of a window.
    static func of(_ window: NSWindow) -> NSWindowClock {
      let key = showingKey.address
      if let clock = objc_getAssociatedObject(window, key) as? NSWindowClock { return clock }
      let clock = NSWindowClock(window)
      objc_setAssociatedObject(window, key, clock, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
      return clock
    }

    private init(_ window: NSWindow) {
      self.window = window
      // The window's own observer, for as long as the window lives.
      _ = NotificationCenter.default.addObserver(
        forName: NSWindow.didChangeOcclusionStateNotification, object: window, queue: nil
      ) { [weak self] _ in MainActor.assumeIsolated { self?.wait() } }
    }

    private func wait() {
      guard isRunning, !isWaiting, window?.occlusionState.contains(.visible) == true else { return }
      isWaiting = true
      DispatchQueue.main.asyncAfter(deadline: .now() + .microseconds(16_667)) { [weak self] in
        MainActor.assumeIsolated { self?.tick() }
      }
    }

    private func tick() {
      isWaiting = false
      if isRunning { players.tick(at: ImagePlace.time(of: .now)) }
      wait()
    }
  }

  /// Has the clock of the window that it is in ask a place, while that plays: an image view tells nobody of its window,
  /// and a view inside it is told.
  final class NSPlayingView: NSView {
    weak var place: ImagePlace?
    var isTicking = false { didSet { follow() } }
    private weak var clock: NSWindowClock?

    override func viewDidMoveToWindow() { follow() }

    private func follow() {
      guard let place else { return }
      let new = isTicking ? window.map { NSWindowClock.of($0) } : nil
      if clock !== new { clock?.players.remove(place) }
      clock = new
      new?.players.insert(place)
    }
  }

  extension ImagePlace {
    /// Has all places show first frames while the system asks for less motion; further calls do nothing.
    static func watchMotionOfAppKit() { _ = motionOfAppKit }

    private static let motionOfAppKit: any NSObjectProtocol = {
      let workspace = NSWorkspace.shared
      motionChanged(isReduced: workspace.accessibilityDisplayShouldReduceMotion)
      return workspace.notificationCenter.addObserver(
        forName: NSWorkspace.accessibilityDisplayOptionsDidChangeNotification, object: nil,
        queue: nil
      ) { _ in
        // The system reports on the main thread.
        MainActor.assumeIsolated {
          ImagePlace.motionChanged(
            isReduced: NSWorkspace.shared.accessibilityDisplayShouldReduceMotion)
        }
      }
    }()
  }
#endif
