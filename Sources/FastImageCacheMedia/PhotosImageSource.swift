#if canImport(Photos)
  public import FastImageCache
  public import Foundation
  import Photos

  /// Images of the user's photo library, by the local identifiers of their assets.
  ///
  /// ```swift
  /// import FastImageCacheMedia
  /// import FastImageCacheUI
  /// import SwiftUI
  ///
  /// func openCache() throws(ImageCacheError) -> ImageCache {
  ///   var configuration = ImageCache.Configuration()
  ///   configuration.source = ImageSourceChain([PhotosImageSource(), URLImageSource()])
  ///   return try ImageCache.open(formats: [.row], configuration: configuration)
  /// }
  ///
  /// @MainActor func cell(of identifier: String) -> some View {
  ///   CachedImageView(PhotosImageSource.url(of: identifier)).frame(width: 120, height: 120)
  /// }
  /// ```
  ///
  /// The app asks for access to the library before. An asset that was edited is shown as it is now; it keeps its
  /// identifier, so give its entity a ``ImageEntity/versionID(for:)`` with `modificationDate`. The source is no network
  /// for ``LoadOptions/Scope``. While an asset comes from iCloud, the system tells a part and no bytes: progress counts
  /// thousandths then.
  ///
  /// This source was compiled and run with stand-ins for Apple's modules only, and on no device yet.
  public struct PhotosImageSource: ImageSource {
    /// An asset that is not there, or has no image.
    public enum Failure: Error, Hashable, Sendable {
      /// The library has no asset with this identifier, or the app may not see it.
      case notFound(String)
      /// The asset is no photograph.
      case noPhoto(String)
    }

    /// Whether photographs are fetched from iCloud that are not on the device. Those of requests that refuse expensive
    /// or constrained networks never are, since the system does not tell its networks apart here.
    public var allowsNetworkAccess: Bool

    /// Creates a source, which asks the library when it is asked.
    public init(allowsNetworkAccess: Bool = true) { self.allowsNetworkAccess = allowsNetworkAccess }

    /// The address of an asset.
    ///
    /// - Parameter localIdentifier: That of a `PHAsset`; it is valid on this device.
    public static func url(of localIdentifier: String) -> URL {
      var parts = URLComponents()
      (parts.scheme, parts.host, parts.path) = (scheme, "", "/\(localIdentifier)")
      return parts.url ?? URL(filePath: "/")
    }

    private static let scheme = "ph"

    /// Fetches the file of an asset's photograph.
    ///
    /// - Throws: ``ImageSourceError/unsupportedScheme(_:)`` for addresses of others, ``Failure``,
    ///   ``ImageSourceError/tooLarge(byteCountLimit:)``, and the errors of the library.
    @concurrent
    public func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
      guard request.url.scheme == Self.scheme else {
        throw ImageSourceError.unsupportedScheme(request.url.scheme ?? "")
      }
      let identifier = String(request.url.path(percentEncoded: false).dropFirst())
      let assets = PHAsset.fetchAssets(withLocalIdentifiers: [identifier], options: nil)
      guard let asset = assets.firstObject else { throw Failure.notFound(identifier) }
      let resources = PHAssetResource.assetResources(for: asset)
      // The edited one first.
      let photo = [.fullSizePhoto, .photo].lazy.compactMap { type in
        resources.first { $0.type == type }
      }.first
      guard let photo else { throw Failure.noPhoto(identifier) }
      let options = PHAssetResourceRequestOptions()
      options.isNetworkAccessAllowed =
        allowsNetworkAccess && request.allowsExpensiveNetworkAccess
        && request.allowsConstrainedNetworkAccess
      options.progressHandler = { part in
        request.report(
          ImageSourceProgress(receivedByteCount: Int(part * 1000), expectedByteCount: 1000))
      }
      let download = CallbackDownload(byteCountLimit: request.byteCountLimit)
      return .encoded(
        try await download.bytes {
          let id = PHAssetResourceManager.default().requestData(
            for: photo, options: options, dataReceivedHandler: { download.append($0) },
            completionHandler: { download.end($0) })
          return { PHAssetResourceManager.default().cancelDataRequest(id) }
        })
    }
  }

  extension PhotosImageSource.Failure: LocalizedError, CustomStringConvertible {
    /// The same as ``description``, so that `localizedDescription` says it too; in English.
    public var errorDescription: String? { description }

    /// One sentence that names the asset.
    public var description: String {
      switch self {
      case .notFound(let identifier): "The photo library shows no asset \(identifier)."
      case .noPhoto(let identifier): "The asset \(identifier) is no photograph."
      }
    }
  }
#endif
