#if canImport(SwiftUI)
  import Dispatch
  import FastImageCache
  import Foundation
  import ImageViewing
  import Observation
  import SwiftUI

  /// What one ``CachedImageView`` shows, for as long as SwiftUI keeps the view's state.
  ///
  /// Invariants:
  /// 1. A body that asks publishes nothing: `changes` grows outside of bodies only.
  /// 2. The first body counts as appearing, because `onAppear` may not come. After `disappear()` only
  ///    `appear()` does: SwiftUI evaluates bodies off screen, too.
  /// 3. `image` is made of `sight` and `label`, once, so that SwiftUI compares an `Image` with itself.
  @MainActor @Observable final class ViewedPicture {
    /// What a view wants of an image that moves.
    struct Motion: Equatable {
      var isAnimated = true
      var isPaused = false
      var time: Duration?
    }

    /// Bodies read it, so that each change has the body evaluated again.
    private var changes = 0
    @ObservationIgnored private lazy var place: PicturePlace = {
      let place = PicturePlace { [weak self] in self?.show($0) }
      place.setTicking = { [weak self] in self?.setTicking($0) }
      return place
    }()
    @ObservationIgnored private var sight = PicturePlace.Sight.nothing
    @ObservationIgnored private var label: Text?
    @ObservationIgnored private var image: Image?
    @ObservationIgnored private var animation: Animation?
    @ObservationIgnored private var isInBody = false
    @ObservationIgnored private var hasLeft = false
    /// Whether ``phase(at:)`` is to be called for each frame of the screen.
    @ObservationIgnored private(set) var isTicking = false
    @ObservationIgnored private var motion = Motion()
    @ObservationIgnored private var sought: Duration?

    /// Answers a body, which looks for the image by asking.
    func phase(
      of request: PicturePlace.Request?, label: Text?, animation: Animation?
    ) -> CachedImagePhase {
      _ = changes
      isInBody = true
      defer { isInBody = false }
      if label != self.label { (self.label, image) = (label, nil) }
      self.animation = animation
      place.want(request)
      if !hasLeft { place.appear() }
      if motion.time != sought {
        sought = motion.time
        if let sought { place.seek(to: sought) }
      }
      return phase
    }

    /// Answers the body of a timeline.
    func phase(at date: Date) -> CachedImagePhase {
      isInBody = true
      defer { isInBody = false }
      _ = place.tick(at: PicturePlace.time(of: date))
      return phase
    }

    /// What the next body wants of an image that moves.
    func motion(isReduced: Bool, _ new: Motion) {
      isInBody = true
      defer { isInBody = false }
      place.isAnimated = new.isAnimated && !isReduced
      if new.isPaused != motion.isPaused { new.isPaused ? place.pause() : place.resume() }
      motion = new
    }

    private func setTicking(_ isTicking: Bool) {
      guard isTicking != self.isTicking else { return }
      self.isTicking = isTicking
      if !isInBody {
        changes += 1
        return
      }
      // A body that begins to play sees it by itself. A timeline that ends is stopped by a later body.
      if isTicking { return }
      DispatchQueue.main.async { [weak self] in MainActor.assumeIsolated { self?.changes += 1 } }
    }

    func appear() {
      hasLeft = false
      place.appear()
    }

    /// Has the body evaluated without the image: lazy stacks keep views, and `Image`s in them.
    func disappear() {
      hasLeft = true
      place.disappear()
    }

    private var phase: CachedImagePhase {
      switch sight {
      case .nothing, .placeholder: .empty
      case .preview(let cached): image(of: cached).map { .preview($0) } ?? .empty
      case .picture(let cached, _): image(of: cached).map { .success($0) } ?? .empty
      case .failure(let error): .failure(error)
      }
    }

    private func image(of cached: CachedImage) -> Image? {
      if let image { return image }
      image = Image(cached, label: label)
      return image
    }

    private func show(_ sight: PicturePlace.Sight) {
      (self.sight, image) = (sight, nil)
      if isInBody { return }
      if case .picture(_, isLate: true) = sight {
        withAnimation(animation) { changes += 1 }
      } else {
        changes += 1
      }
    }
  }
#endif
