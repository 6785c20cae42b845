#if canImport(SwiftUI)
  public import SwiftUI

  private struct ImageCacheOverlayKey: EnvironmentKey {
    static let defaultValue = false
  }

  extension EnvironmentValues {
    var showsImageCacheOverlay: Bool {
      get { self[ImageCacheOverlayKey.self] }
      set { self[ImageCacheOverlayKey.self] = newValue }
    }
  }

  extension View {
    /// Has the views inside say over each image where it came from, its size, its bytes and the time of each step; for
    /// development.
    ///
    /// Each view that loads listens to the events of its cache meanwhile.
    public func imageCacheOverlay(_ isShown: Bool = true) -> some View {
      environment(\.showsImageCacheOverlay, isShown)
    }
  }

  /// A few lines on a dark ground, which touches and assistive technologies pass by.
  struct ImageCacheOverlay: View {
    let text: String

    var body: some View {
      Text(verbatim: text)
        .font(.caption2)
        .foregroundStyle(Color.white)
        .background(Color.black)
        .allowsHitTesting(false)
        .accessibilityHidden(true)
    }
  }
#endif
