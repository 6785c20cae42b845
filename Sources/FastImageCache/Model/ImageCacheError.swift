public import Foundation
public import ImageCodecs
import ImageSources

/// Everything that can go wrong, as one list.
///
/// Cancellation is a case of the list, so that a function has one error type; it is an outcome rather
/// than a failure.
///
/// The cases with a URL are indirect, since no compiler knows its layout: the answers of requests, which may be
/// errors, would be moved by the runtime, value by value.
@nonexhaustive public enum ImageCacheError: Error, Sendable {
  /// The cache was created without this format, or with another one of the same name.
  ///
  /// Every call that can throw throws this error. A progress stream ends with it, a prefetch counts
  /// failures; these two, requests and stores also send it as
  /// ``CacheEvent/failed(entity:format:_:)``. Lookups find no image.
  case unknownFormat(String)

  /// Two formats with the same name were given.
  case duplicateFormat(String)

  /// No table can have this format; the reason names the offending value.
  case invalidFormat(String, reason: String)

  /// The namespace is empty or longer than 255 bytes.
  case invalidNamespace(String)

  /// The entity has neither a URL nor an image of its own for the format.
  case noSourceURL(entity: ImageID, format: String)

  /// The image is not to be had within the request's ``LoadOptions/scope-swift.property``.
  case notCached(entity: ImageID, format: String)

  /// The image did not come within the request's ``LoadOptions/timeout``.
  case timedOut(entity: ImageID, format: String, after: Duration)

  /// The source did not deliver; the underlying error says why.
  indirect case sourceFailed(URL?, underlying: any Error)

  /// None of the cache's decoders can read the bytes as a whole image.
  indirect case undecodable(URL?, reason: ImageDecodingError)

  /// The image exceeds a limit for decoding; the text names the limit and both numbers.
  indirect case imageTooLarge(URL?, String)

  /// Metadata stored by hand exceeds ``ImageFormat/metadataByteLimit``, both in bytes; nothing was
  /// changed.
  case metadataTooLarge(entity: ImageID, format: String, byteCount: Int, limit: Int)

  /// The drawing closure threw the underlying error; or it is a ``DrawingError``.
  case drawingFailed(entity: ImageID, format: String, underlying: any Error)

  /// The hook ``ImageCache/Configuration/willStore`` threw the underlying error, and nothing was stored;
  /// the entity is `nil` for an image stored by hand without one.
  case willStoreFailed(entity: ImageID?, underlying: any Error)

  /// An image was stored by hand without an entity, and no hook
  /// ``ImageCache/Configuration/willStore`` gave it an id.
  case noImageID(format: String)

  /// The disk is full.
  ///
  /// Opening, storing by hand, changing metadata, removing, emptying, flushing and suspending throw this
  /// error. A request gets an image in private memory instead.
  case diskFull

  /// A file, folder or table of the cache cannot be used; the text is a sentence that names it. Of a path that is not
  /// there it names the part that is.
  case storageUnavailable(String)

  /// The originals' database cannot be used, for a reason that lasts; the file is left as it is.
  case originalsUnavailable(OriginalFault, file: String)

  /// The format's table cannot be read until the device is unlocked; see ``ImageFormat/Protection``.
  /// Nothing is lost, and no image that the table has is loaded again.
  case protectedDataUnavailable(format: String)

  /// The awaiting task was cancelled.
  case cancelled

  /// The cache was closed.
  case closed
}

extension ImageCacheError {
  /// The status of a web server whose answer brought no image, such as 404; `nil` for any other error.
  ///
  /// Of an ``ImageSourceChain`` the last status counts.
  public var httpStatus: Int? {
    if case .sourceFailed(_, let error) = self { error.answeredStatus } else { nil }
  }
}

extension ImageCacheError: LocalizedError {
  /// The same as ``description``, in English, for `localizedDescription`.
  public var errorDescription: String? { description }
}

extension ImageCacheError: CustomStringConvertible {
  /// One sentence that names the offending value.
  public var description: String {
    switch self {
    case .unknownFormat(let name):
      "The cache has no such format \"\(name)\": none has that name, or the one of that name differs."
    case .duplicateFormat(let name): "Two formats are named \"\(name)\"."
    case .invalidFormat(let name, let reason):
      "The format \"\(name)\" cannot have a table: \(reason)."
    case .invalidNamespace(let name):
      "A namespace needs 1 to 255 bytes; \"\(name.prefix(40))\" has \(name.utf8.count)."
    case .noSourceURL(let entity, let format):
      "Entity \(entity) has no URL and no image of its own for format \"\(format)\"."
    case .notCached(let entity, let format):
      "Entity \(entity) has no image for format \"\(format)\" within the request's scope."
    case .timedOut(let entity, let format, let limit):
      "The image of entity \(entity) for format \"\(format)\" did not come within \(limit)."
    case .sourceFailed(let url, let underlying):
      "The source of \(url?.abbreviated ?? "the image") failed: \(underlying.text)"
    case .undecodable(let url, let reason):
      "\(url?.abbreviated ?? "The image") cannot be decoded: \(reason)"
    case .imageTooLarge(let url, let text):
      "\(url?.abbreviated ?? "The image") is too large: \(text)"
    case .metadataTooLarge(let entity, let format, let byteCount, let limit):
      "Entity \(entity) has \(byteCount) bytes of metadata; format \"\(format)\" has room for \(limit)."
    case .drawingFailed(let entity, let format, let underlying):
      "Drawing entity \(entity) for format \"\(format)\" failed: \(underlying.text)"
    case .willStoreFailed(let entity, let underlying):
      "The hook willStore failed for \(entity.map { "entity \($0)" } ?? "an image"): \(underlying.text)"
    case .noImageID(let format):
      "An image for format \"\(format)\" was stored without an entity, and willStore gave it no id."
    case .diskFull: "The disk is full."
    case .storageUnavailable(let text): "The storage cannot be used: \(text)"
    case .originalsUnavailable(let fault, let file):
      "The originals in \(file) cannot be used: \(fault.rawValue)."
    case .protectedDataUnavailable(let format):
      "The table of format \"\(format)\" cannot be read while the device is locked."
    case .cancelled: "The request was cancelled."
    case .closed: "The cache is closed."
    }
  }
}

extension ImageCacheError: Equatable {
  /// Whether both are the same case with equal values, so that tests and views can compare them.
  ///
  /// Underlying errors are of any type: they count as equal when they have the same type and the same
  /// text.
  public static func == (first: ImageCacheError, second: ImageCacheError) -> Bool {
    switch (first, second) {
    case (.unknownFormat(let a), .unknownFormat(let b)): a == b
    case (.duplicateFormat(let a), .duplicateFormat(let b)): a == b
    case (.invalidFormat(let a, let x), .invalidFormat(let b, let y)): a == b && x == y
    case (.invalidNamespace(let a), .invalidNamespace(let b)): a == b
    case (.noSourceURL(let a, let x), .noSourceURL(let b, let y)): a == b && x == y
    case (.notCached(let a, let x), .notCached(let b, let y)): a == b && x == y
    case (.timedOut(let a, let f, let x), .timedOut(let b, let g, let y)):
      a == b && f == g && x == y
    case (.sourceFailed(let a, let x), .sourceFailed(let b, let y)): a == b && x.isLike(y)
    case (.undecodable(let a, let x), .undecodable(let b, let y)): a == b && x == y
    case (.imageTooLarge(let a, let x), .imageTooLarge(let b, let y)): a == b && x == y
    case (
      .metadataTooLarge(let a, let f, let m, let x), .metadataTooLarge(let b, let g, let n, let y)
    ):
      a == b && f == g && m == n && x == y
    case (.drawingFailed(let a, let f, let x), .drawingFailed(let b, let g, let y)):
      a == b && f == g && x.isLike(y)
    case (.willStoreFailed(let a, let x), .willStoreFailed(let b, let y)): a == b && x.isLike(y)
    case (.noImageID(let a), .noImageID(let b)): a == b
    case (.storageUnavailable(let a), .storageUnavailable(let b)): a == b
    case (.originalsUnavailable(let a, let x), .originalsUnavailable(let b, let y)):
      a == b && x == y
    case (.protectedDataUnavailable(let a), .protectedDataUnavailable(let b)): a == b
    case (.diskFull, .diskFull), (.cancelled, .cancelled), (.closed, .closed): true
    default: false
    }
  }
}

extension Error {
  fileprivate var answeredStatus: Int? {
    if let failure = self as? ImageSourceChain.Failure {
      return failure.errors.compactMap(\.answeredStatus).last
    }
    return if case .httpStatus(let status)? = self as? ImageSourceError { status } else { nil }
  }

  fileprivate func isLike(_ other: any Error) -> Bool {
    type(of: self) == type(of: other) && text == other.text
  }
}
