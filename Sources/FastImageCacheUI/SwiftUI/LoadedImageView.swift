#if canImport(SwiftUI)
  import FastImageCache
  import ImageViewing
  import SwiftUI

  /// Has the image of a request loaded while the view is seen, and builds the content of each phase.
  struct LoadedImageView<Content: View>: View {
    let request: ImagePlace.Request?
    let look: ViewedImage.Look
    let motion: ViewedImage.Motion
    let content: (CachedImagePhase) -> Content
    @Environment(\.accessibilityReduceMotion) private var reducesMotion
    @Environment(\.showsImageCacheOverlay) private var showsOverlay
    @State private var viewed = ViewedImage()

    var body: some View {
      viewed.motion(isReduced: reducesMotion, motion)
      var request = request
      request?.wantsReport = showsOverlay
      return playing(viewed.phase(of: request, look))
        .accessibilityLabel(look.label ?? Text(verbatim: ""), isEnabled: look.label != nil)
        .overlay(alignment: .bottomLeading) {
          if showsOverlay { ImageCacheOverlay(text: viewed.overlayText) }
        }
        .onAppear { viewed.appear() }
        .onDisappear { viewed.disappear() }
    }

    /// A timeline evaluates what is in it for each frame of the screen, so only views that can play have one.
    @ViewBuilder private func playing(_ phase: CachedImagePhase) -> some View {
      if request?.format.animation ?? .firstFrame == .firstFrame {
        content(phase)
      } else {
        TimelineView(.animation(minimumInterval: 1.0 / 60, paused: !viewed.isTicking)) { context in
          content(viewed.phase(at: context.date))
        }
      }
    }
  }
#endif
