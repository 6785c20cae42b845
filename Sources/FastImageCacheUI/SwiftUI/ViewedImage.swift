#if canImport(SwiftUI)
  import CoreGraphics
  import Dispatch
  import FastImageCache
  import Foundation
  import ImageViewing
  import Observation
  import SwiftUI

  /// What one view shows, for as long as SwiftUI keeps the view's state.
  ///
  /// Invariants:
  /// 1. A body that asks publishes nothing: `changes` grows outside of bodies only.
  /// 2. The first body counts as appearing, because `onAppear` may not come. After `disappear()` only
  ///    `appear()` does: SwiftUI evaluates bodies off screen, too.
  /// 3. `image` is made of `sight` and `look`, once, so that SwiftUI compares an `Image` with itself.
  @MainActor @Observable final class ViewedImage {
    /// What a view wants of an image that moves.
    struct Motion: Equatable {
      var isAnimated = true
      var isPaused = false
      var time: Duration?
    }

    /// How a view shows an image.
    struct Look {
      let label: Text?
      /// Pixels in a point; `nil` for the format's.
      let scale: CGFloat?
      /// Of the change to an image that was loaded while the view was seen.
      let transaction: Transaction
      var whenLeaving = DisappearBehavior.cancel

      init(_ label: Text?, _ animation: Animation?) {
        (self.label, scale, transaction) = (label, nil, Transaction(animation: animation))
      }

      init(transaction: Transaction, scale: CGFloat?) {
        (label, self.scale, self.transaction) = (nil, scale, transaction)
      }
    }

    /// Bodies read it, so that each change has the body evaluated again.
    private var changes = 0
    @ObservationIgnored private lazy var place: ImagePlace = {
      let place = ImagePlace { [weak self] in self?.show($0) }
      place.setTicking = { [weak self] in self?.setTicking($0) }
      place.fractionChanged = { [weak self] in self?.changes += 1 }
      place.reportChanged = { [weak self] in self?.changes += 1 }
      return place
    }()
    @ObservationIgnored private var sight = ImagePlace.Sight.nothing
    @ObservationIgnored private var look = Look(nil, nil)
    @ObservationIgnored private var image: Image?
    @ObservationIgnored private var placeholder = PlaceholderImage()
    @ObservationIgnored private var isInBody = false
    @ObservationIgnored private var hasLeft = false
    /// Whether ``phase(at:)`` is to be called for each frame of the screen.
    @ObservationIgnored private(set) var isTicking = false
    @ObservationIgnored private var motion = Motion()
    @ObservationIgnored private var sought: Duration?

    /// Answers a body, which looks for the image by asking.
    func phase(of request: ImagePlace.Request?, _ new: Look) -> CachedImagePhase {
      _ = changes
      isInBody = true
      defer { isInBody = false }
      if new.label != look.label || new.scale != look.scale { image = nil }
      look = new
      place.whenLeaving = look.whenLeaving
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
      _ = place.tick(at: ImagePlace.time(of: date))
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
      case .nothing: .empty
      case .placeholder:
        hashed.map { .preview($0) } ?? place.fraction.map { .loading($0) } ?? .empty
      case .preview(let cached): image(of: cached).map { .preview($0) } ?? .empty
      case .image(let cached, _): image(of: cached).map { .success($0) } ?? .empty
      case .failure(let error): .failure(error)
      }
    }

    /// What the overlay says.
    var overlayText: String {
      if case .failure(let error) = sight { return "\(error)" }
      return place.overlayText
    }

    /// The entity's hash.
    private var hashed: Image? {
      placeholder.image(for: place.request).map { image, scale in
        look.label.map { Image(image, scale: scale, orientation: .up, label: $0) }
          ?? Image(decorative: image, scale: scale, orientation: .up)
      }
    }

    private func image(of cached: CachedImage) -> Image? {
      if let image { return image }
      image = Image(cached, label: look.label, scale: look.scale)
      return image
    }

    private func show(_ sight: ImagePlace.Sight) {
      (self.sight, image) = (sight, nil)
      if isInBody { return }
      if case .image(_, isLate: true) = sight {
        withTransaction(look.transaction) { changes += 1 }
      } else {
        changes += 1
      }
    }
  }
#endif
