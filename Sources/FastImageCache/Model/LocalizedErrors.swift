public import Foundation
public import ImageDrawing
public import Pixels

// Here and not beside the types, whose modules do without Foundation.

extension BitmapError: LocalizedError {
  /// The same as ``description``, so that `localizedDescription` says it too; in English.
  public var errorDescription: String? { description }
}

extension DrawingError: LocalizedError {
  /// The same as ``description``, so that `localizedDescription` says it too; in English.
  public var errorDescription: String? { description }
}
