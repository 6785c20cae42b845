// Names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_exported public import CoreGraphics
public import Foundation
import Synchronization

public struct CMTime: Equatable, Sendable {
  public var value: Int64
  public var timescale: Int32
  public static let zero = CMTime(seconds: 0, preferredTimescale: 1)
  public static let positiveInfinity = CMTime(value: .max, timescale: 1)
  public var seconds: Double { Double(value) / Double(timescale) }

  public init(value: Int64, timescale: Int32) { (self.value, self.timescale) = (value, timescale) }
  public init(seconds: Double, preferredTimescale: Int32) {
    self.init(
      value: Int64((seconds * Double(preferredTimescale)).rounded()), timescale: preferredTimescale)
  }
}

public let AVURLAssetAllowsExpensiveNetworkAccessKey =
  "AVURLAssetAllowsExpensiveNetworkAccessKey"
public let AVURLAssetAllowsConstrainedNetworkAccessKey =
  "AVURLAssetAllowsConstrainedNetworkAccessKey"

open class AVAsset: NSObject {}

open class AVURLAsset: AVAsset {
  public let url: URL
  let options: [String: Any]
  public init(url URL: URL, options: [String: Any]? = nil) {
    (url, self.options) = (URL, options ?? [:])
  }
}

open class AVAssetImageGenerator: NSObject {
  private let asset: AVAsset
  open var appliesPreferredTrackTransform = false
  open var requestedTimeToleranceBefore = CMTime.positiveInfinity
  open var requestedTimeToleranceAfter = CMTime.positiveInfinity

  public init(asset: AVAsset) { self.asset = asset }

  open func image(at time: CMTime) async throws -> (image: CGImage, actualTime: CMTime) {
    guard let asset = asset as? AVURLAsset else { throw CocoaError(.featureUnsupported) }
    let request = _Videos.Request(
      url: asset.url, seconds: time.seconds, isUpright: appliesPreferredTrackTransform,
      isExact: requestedTimeToleranceBefore == .zero && requestedTimeToleranceAfter == .zero,
      options: asset.options.compactMapValues { $0 as? Bool })
    _Videos.add(request)
    guard asset.url.pathExtension == "mp4",
      let image = CGImage(
        _bgra: [UInt8(time.seconds), 2, 3, 255, 4, 5, 6, 255], width: 2, height: 1, hasAlpha: false)
    else { throw CocoaError(.fileReadUnknown) }
    return (image, time)
  }
}

/// The frames that were asked for; for tests.
public enum _Videos {
  public struct Request: Hashable, Sendable {
    public let url: URL
    public let seconds: Double
    public let isUpright: Bool
    public let isExact: Bool
    public let options: [String: Bool]
  }
  private static let state = Mutex<[Request]>([])
  public static var requests: [Request] { state.withLock { $0 } }
  static func add(_ request: Request) { state.withLock { $0.append(request) } }
}
