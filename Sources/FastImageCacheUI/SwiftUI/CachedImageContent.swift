#if canImport(SwiftUI)
  public import SwiftUI

  /// What a ``CachedImageView`` shows that was given a placeholder: the image or its preview, and else the placeholder,
  /// under a view for failures.
  public struct CachedImageContent<Placeholder: View, Failure: View>: View {
    let phase: CachedImagePhase
    /// How the image is laid into the view; `nil` for an image of the view's own size.
    let contentMode: ContentMode?
    let placeholder: () -> Placeholder
    let failure: () -> Failure

    /// The view of the phase.
    public var body: some View {
      if let image = phase.image {
        if let contentMode {
          image.resizable().aspectRatio(contentMode: contentMode)
        } else {
          image
        }
      } else {
        // One view before and after a failure, so that the placeholder keeps its state.
        placeholder().overlay { if phase.error != nil { failure() } }
      }
    }
  }
#endif
