#if canImport(UIKit) || canImport(AppKit)
  import FastImageCache
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

  /// What one image view of UIKit or AppKit shows, for as long as the view lives.
  ///
  /// Invariants:
  /// 1. The place counts as seen from the first `show` on, since image views tell nobody that they are
  ///    on screen. After `end` it wants nothing.
  /// 2. `isThere` says that the view has the image, not its placeholder or a preview.
  @MainActor final class ShownPicture<Native> {
    private let make: (CachedImage) -> Native?
    private let put: (Native?, _ fade: TimeInterval) -> Void
    private let setTicking: (PicturePlace, Bool) -> Void
    private(set) lazy var place: PicturePlace = {
      let place = PicturePlace { [weak self] in self?.take($0) }
      place.setTicking = { [weak self] isTicking in
        if let self { setTicking(self.place, isTicking) }
      }
      return place
    }()
    private var placeholder: Native?
    private var fade: TimeInterval = 0
    private var isPlaceholder = true
    private var isThere = false

    /// - Parameters:
    ///   - make: Makes the toolkit's image of an image.
    ///   - put: Puts an image into the view, which it must not keep alive.
    ///   - setTicking: Has the clock of the view's window ask the place, or no more.
    init(
      make: @escaping (CachedImage) -> Native?,
      put: @escaping (Native?, _ fade: TimeInterval) -> Void,
      setTicking: @escaping (PicturePlace, Bool) -> Void
    ) {
      (self.make, self.put, self.setTicking) = (make, put, setTicking)
    }

    func show(
      _ request: PicturePlace.Request?, placeholder: Native?, fade: TimeInterval
    ) -> ShownFrom {
      (self.placeholder, self.fade) = (placeholder, fade)
      place.want(request)
      place.appear()
      // The placeholder may be another one than before.
      if isPlaceholder { put(placeholder, 0) }
      return request == nil ? .nowhere : isThere ? .table : .load
    }

    func end() {
      place.want(nil)
      placeholder = nil
      put(nil, 0)
    }

    private func take(_ sight: PicturePlace.Sight) {
      switch sight {
      case .nothing, .placeholder, .failure: put(nil, fade: 0, isThere: false)
      case .preview(let cached): put(make(cached), fade: 0, isThere: false)
      case .picture(let cached, let isLate):
        put(make(cached), fade: isLate ? fade : 0, isThere: true)
      }
    }

    private func put(_ native: Native?, fade: TimeInterval, isThere: Bool) {
      isPlaceholder = native == nil
      self.isThere = isThere && native != nil
      put(native ?? placeholder, fade)
    }
  }
#endif
