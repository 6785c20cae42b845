// AVFoundation of watchOS has no image generator.
#if canImport(AVFoundation) && !os(watchOS)
  import AVFoundation
  public import FastImageCache
  public import Foundation

  /// Frames of videos, as images.
  ///
  /// ```swift
  /// import FastImageCacheMedia
  /// import FastImageCacheUI
  /// import SwiftUI
  ///
  /// func openCache() throws(ImageCacheError) -> ImageCache {
  ///   var configuration = ImageCache.Configuration()
  ///   configuration.source = ImageSourceChain([VideoFrameSource(), URLImageSource()])
  ///   return try ImageCache.open(formats: [.row], configuration: configuration)
  /// }
  ///
  /// @MainActor func poster(of video: URL) -> some View {
  ///   CachedImageView(VideoFrameSource.url(of: video, at: .seconds(3)))
  ///     .frame(width: 160, height: 90)
  /// }
  /// ```
  ///
  /// The address is the video's, with the time in the fragment (`film.mp4#t=3.5`), as the W3C's Media Fragments have
  /// it. AVFoundation reads the video by itself, over the network too: ``HTTPOptions`` and headers of requests do not
  /// reach it. A frame is generated to its end even if its load is cancelled.
  ///
  /// This source was compiled and run with stand-ins for Apple's modules only, and on no device yet.
  public struct VideoFrameSource: ImageSource {
    /// Whether the frame is the one at the time, instead of a nearby one that is decoded faster.
    public var isExact: Bool

    /// Creates a source, which opens videos when it is asked.
    public init(isExact: Bool = false) { self.isExact = isExact }

    /// The address of a frame.
    ///
    /// - Parameters:
    ///   - video: A file or http address; its fragment is replaced.
    ///   - time: Since the start of the video.
    public static func url(of video: URL, at time: Duration) -> URL {
      guard var parts = URLComponents(url: video, resolvingAgainstBaseURL: true) else {
        return video
      }
      parts.fragment = "t=\(time / .seconds(1))"
      return parts.url ?? video
    }

    /// Generates a frame.
    ///
    /// - Throws: ``ImageSourceError/unsupportedScheme(_:)`` for an address without a time, so that the next source of a
    ///   chain is asked; the errors of AVFoundation; ``BitmapError``.
    @concurrent
    public func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
      guard let (video, seconds) = Self.frame(at: request.url) else {
        throw ImageSourceError.unsupportedScheme(request.url.scheme ?? "")
      }
      let asset = AVURLAsset(
        url: video,
        options: [
          AVURLAssetAllowsExpensiveNetworkAccessKey: request.allowsExpensiveNetworkAccess,
          AVURLAssetAllowsConstrainedNetworkAccessKey: request.allowsConstrainedNetworkAccess,
        ])
      let generator = AVAssetImageGenerator(asset: asset)
      generator.appliesPreferredTrackTransform = true
      if isExact {
        generator.requestedTimeToleranceBefore = .zero
        generator.requestedTimeToleranceAfter = .zero
      }
      // Films have 24 to 60 frames in a second, or these numbers divided by 1.001: all are whole parts of a 90 kHz
      // clock.
      let time = CMTime(seconds: seconds, preferredTimescale: 90_000)
      let image = try await generator.image(at: time).image
      try Task.checkCancellation()
      return .bitmap(try Bitmap(image))
    }

    private static func frame(at url: URL) -> (video: URL, seconds: Double)? {
      guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
        let fragment = parts.fragment, fragment.hasPrefix("t="),
        let seconds = Double(fragment.dropFirst(2)), seconds >= 0, seconds.isFinite
      else { return nil }
      parts.fragment = nil
      return parts.url.map { ($0, seconds) }
    }
  }
#endif
