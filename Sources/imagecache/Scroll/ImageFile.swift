import FastImageCache
import Foundation
import ImageCodecs

/// Bitmaps as files.
enum ImageFile {
  /// The quality at which photo apps keep thumbnails.
  static let thumbnailQuality = 0.8

  static func png(_ bitmap: Bitmap) throws -> Data { try bitmap.pngData() }

  static func jpeg(_ bitmap: Bitmap) throws -> Data {
    try bitmap.jpegData(quality: thumbnailQuality)
  }
}
