import CommandSupport
import FastImageCache
import Foundation

/// Says in a few words why a call failed.
enum FailureText {
  static func text(of error: any Error) -> String {
    switch error {
    case let error as ImageCacheError: text(of: error)
    case let error as CocoaError:
      (error.filePath.map { "\($0): " } ?? "") + OutputFile.reason(of: error)
    case let error as any CustomStringConvertible & Error: error.description
    default: error.localizedDescription
    }
  }

  private static func text(of error: ImageCacheError) -> String {
    switch error {
    // The caller names the file; the URL would only repeat it.
    case .undecodable(_, let reason): reason.description
    case .imageTooLarge(_, let text): text
    case .sourceFailed(_, let underlying): text(of: underlying)
    case .drawingFailed(_, _, let underlying): text(of: underlying)
    case .storageUnavailable(let text): text
    default: error.description
    }
  }
}
