public import Foundation
import Synchronization

open class PHObject: NSObject {
  public let localIdentifier: String
  init(_ identifier: String) { localIdentifier = identifier }
}

open class PHAsset: PHObject {
  open class func fetchAssets(
    withLocalIdentifiers identifiers: [String], options: PHFetchOptions?
  ) -> PHFetchResult<PHAsset> {
    let found = identifiers.filter { _PhotoLibrary.resources[$0] != nil }
    return PHFetchResult(found.map { PHAsset($0) })
  }
}

open class PHFetchOptions: NSObject {}

open class PHFetchResult<ObjectType: AnyObject>: NSObject {
  private let objects: [ObjectType]
  init(_ objects: [ObjectType]) { self.objects = objects }
  open var firstObject: ObjectType? { objects.first }
}

public enum PHAssetResourceType: Int, Sendable {
  case photo = 1
  case video, audio, alternatePhoto, fullSizePhoto
}

open class PHAssetResource: NSObject {
  public let type: PHAssetResourceType
  public let assetLocalIdentifier: String
  init(_ identifier: String, _ type: PHAssetResourceType) {
    (assetLocalIdentifier, self.type) = (identifier, type)
  }
  open class func assetResources(for asset: PHAsset) -> [PHAssetResource] {
    (_PhotoLibrary.resources[asset.localIdentifier] ?? []).map {
      PHAssetResource(asset.localIdentifier, $0)
    }
  }
}

public typealias PHAssetResourceDataRequestID = Int32
public typealias PHAssetResourceProgressHandler = (Double) -> Void

open class PHAssetResourceRequestOptions: NSObject {
  open var isNetworkAccessAllowed = false
  open var progressHandler: PHAssetResourceProgressHandler?
}

open class PHAssetResourceManager: NSObject {
  open class func `default`() -> PHAssetResourceManager { PHAssetResourceManager() }

  open func requestData(
    for resource: PHAssetResource, options: PHAssetResourceRequestOptions?,
    dataReceivedHandler handler: @escaping (Data) -> Void,
    completionHandler: @escaping ((any Error)?) -> Void
  ) -> PHAssetResourceDataRequestID {
    _PhotoLibrary.add(
      _PhotoLibrary.Request(
        identifier: resource.assetLocalIdentifier, type: resource.type,
        allowsNetwork: options?.isNetworkAccessAllowed ?? false,
        progress: options?.progressHandler ?? { _ in }, receive: handler, end: completionHandler))
  }

  open func cancelDataRequest(_ requestID: PHAssetResourceDataRequestID) {
    _PhotoLibrary.cancel(requestID)
  }
}

/// The user's library, as a test says; a test answers its requests.
public enum _PhotoLibrary {
  /// `@unchecked Sendable`: a test calls one handler at a time, as the system does.
  public struct Request: @unchecked Sendable {
    public let identifier: String
    public let type: PHAssetResourceType
    public let allowsNetwork: Bool
    public let progress: (Double) -> Void
    public let receive: (Data) -> Void
    public let end: ((any Error)?) -> Void
  }

  private struct State {
    var resources: [String: [PHAssetResourceType]] = [:]
    var requests: [Request] = []
    var cancelled: [String] = []
  }

  private static let state = Mutex(State())

  /// What there is of each asset.
  public static var resources: [String: [PHAssetResourceType]] {
    get { state.withLock { $0.resources } }
    set { state.withLock { $0.resources = newValue } }
  }
  public static var requests: [Request] { state.withLock { $0.requests } }
  /// The assets whose requests were cancelled.
  public static var cancelled: [String] { state.withLock { $0.cancelled } }

  static func add(_ request: Request) -> PHAssetResourceDataRequestID {
    state.withLock {
      $0.requests.append(request)
      return PHAssetResourceDataRequestID($0.requests.count)
    }
  }

  static func cancel(_ id: PHAssetResourceDataRequestID) {
    let request = state.withLock { state in
      let request = state.requests[Int(id) - 1]
      state.cancelled.append(request.identifier)
      return request
    }
    // The system reports it, as an end with an error.
    request.end(CocoaError(.userCancelled))
  }
}
