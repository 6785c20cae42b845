#if canImport(UIKit) || canImport(AppKit)
  import CoreGraphics
  public import FastImageCache
  import Foundation
  import ImageViewing

  /// Where an image view found the image that it was told to show.
  public enum ShownFrom: Sendable {
    /// The table: the image is on screen.
    case table
    /// The image is loaded first; the placeholder or a preview is on screen.
    case load
    /// No entity was given.
    case nowhere
  }

  /// Takes the image that a view has come to show, or the reason why there is none; on the main actor.
  public typealias ImageCompletion = @MainActor (Result<CachedImage, ImageCacheError>) -> Void

  /// What one image view of UIKit or AppKit shows, for as long as the view lives.
  ///
  /// Invariants:
  /// 1. The place counts as seen from the first `show` on, since image views tell nobody that they are
  ///    on screen. After `end` it wants nothing.
  /// 2. `image` is there while the view has the image, not its placeholder or a preview.
  /// 3. `completion` is that of the newest `show`, until it is called.
  @MainActor final class ShownImage<Native> {
    /// What a view shows while it has no image.
    struct StandIns {
      var placeholder: Native?
      /// `nil` for the placeholder.
      var failure: Native?
      /// Seconds in which an image that was loaded dissolves in.
      var fade: TimeInterval = 0
    }

    private let make: (CachedImage) -> Native?
    private let makeHashed: (CGImage, _ scale: CGFloat) -> Native
    private let put: (Native?, _ fade: TimeInterval) -> Void
    private let setIndicating: (Bool) -> Void
    private let setTicking: (ImagePlace, Bool) -> Void
    private(set) lazy var place: ImagePlace = {
      let place = ImagePlace { [weak self] in self?.take($0) }
      place.setTicking = { [weak self] isTicking in
        if let self { setTicking(self.place, isTicking) }
      }
      place.onLoaded = { [weak self] in self?.complete(.success($0)) }
      place.onFailed = { [weak self] in self?.complete(.failure($0)) }
      return place
    }()
    private var standIns = StandIns()
    private var placeholder = PlaceholderImage()
    private var standIn: Native? {
      if hasFailed, let failure = standIns.failure { return failure }
      return placeholder.image(for: place.request).map(makeHashed) ?? standIns.placeholder
    }
    private var hasFailed = false
    private var isStandIn = true
    private var image: CachedImage?
    private var completion: ImageCompletion?
    /// Tells a call of `show` from those before it.
    private var number = 0

    /// Whether an indicator turns while the placeholder is shown for an image that is loaded.
    var showsIndicator = false
    private var isIndicating = false

    /// - Parameters:
    ///   - make: Makes the toolkit's image of an image.
    ///   - makeHashed: Makes the toolkit's image of an entity's hash.
    ///   - put: Puts an image into the view, which it must not keep alive.
    ///   - setIndicating: Has an indicator turn, or no more.
    ///   - setTicking: Has the clock of the view's window ask the place, or no more.
    init(
      make: @escaping (CachedImage) -> Native?,
      makeHashed: @escaping (CGImage, _ scale: CGFloat) -> Native,
      put: @escaping (Native?, _ fade: TimeInterval) -> Void,
      setIndicating: @escaping (Bool) -> Void,
      setTicking: @escaping (ImagePlace, Bool) -> Void
    ) {
      (self.make, self.makeHashed, self.put) = (make, makeHashed, put)
      (self.setIndicating, self.setTicking) = (setIndicating, setTicking)
    }

    func show(
      _ request: ImagePlace.Request?, _ standIns: StandIns, _ completion: ImageCompletion? = nil
    ) -> ShownFrom {
      let earlier = begin(standIns, request == nil ? nil : completion)
      defer { earlier?(.failure(.cancelled)) }
      place.want(request)
      place.appear()
      // The placeholder may be another one than before.
      if isStandIn { put(standIn, 0) }
      // An earlier version, or the image of another format, may still be shown.
      if let image, place.isSettled {
        complete(.success(image))
      } else if self.completion != nil {
        // The same image may have failed before.
        place.retry()
      }
      return request == nil ? .nowhere : image != nil && place.isSettled ? .table : .load
    }

    /// Shows an image that somebody has loaded, as if this view had.
    func show(_ image: CachedImage, of request: ImagePlace.Request, _ standIns: StandIns) {
      let earlier = begin(standIns, nil)
      place.appear()
      place.want(request, showing: image)
      earlier?(.failure(.cancelled))
    }

    /// Shows an image and waits for it, until the calling task is cancelled.
    func load(
      _ request: ImagePlace.Request, _ standIns: StandIns
    ) async -> Result<CachedImage, ImageCacheError> {
      let own = number + 1
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          _ = show(request, standIns) { continuation.resume(returning: $0) }
        }
      } onCancel: {
        Task(name: "a cancelled image") { @MainActor in
          if number == own, completion != nil { end() }
        }
      }
    }

    func end(_ behavior: DisappearBehavior = .cancel) {
      let earlier = begin(StandIns(), nil)
      place.whenLeaving = behavior
      place.want(nil)
      place.whenLeaving = .cancel
      put(nil, 0)
      earlier?(.failure(.cancelled))
    }

    /// - Returns: The completion of what was shown before, to be called last: it may have the view show something else.
    private func begin(_ standIns: StandIns, _ completion: ImageCompletion?) -> ImageCompletion? {
      defer { self.completion = completion }
      number += 1
      self.standIns = standIns
      return self.completion
    }

    private func complete(_ result: Result<CachedImage, ImageCacheError>) {
      // Taken first: it may have the view show something else.
      completion.take()?(result)
    }

    private func take(_ sight: ImagePlace.Sight) {
      hasFailed = false
      switch sight {
      case .nothing, .placeholder: put(nil, of: nil, fade: 0)
      case .failure:
        hasFailed = true
        put(nil, of: nil, fade: 0)
      case .preview(let cached): put(make(cached), of: nil, fade: 0)
      case .image(let cached, let isLate):
        put(make(cached), of: cached, fade: isLate ? standIns.fade : 0)
      }
      var isWaiting = false
      if case .placeholder = sight { isWaiting = showsIndicator }
      if isWaiting != isIndicating {
        isIndicating = isWaiting
        setIndicating(isWaiting)
      }
    }

    private func put(_ native: Native?, of cached: CachedImage?, fade: TimeInterval) {
      isStandIn = native == nil
      image = native == nil ? nil : cached
      put(native ?? standIn, fade)
    }
  }
#endif
