import FastImageCache
import Foundation
import Locking

/// Notes the sizes of the bitmaps that another decoder makes.
struct SizeNotingDecoder: ImageDecoder {
  let decoder: any ImageDecoder
  let sizes: Lock<[PixelSize]>

  func recognizes(_ firstBytes: Data) -> Bool { decoder.recognizes(firstBytes) }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    try decoder.header(of: data)
  }

  func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
    decoder.workingByteCount(for: header, minimumSize: minimumSize)
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    let bitmap = try decoder.decode(data, request)
    sizes.withLock { $0.append(bitmap.size) }
    return bitmap
  }
}
