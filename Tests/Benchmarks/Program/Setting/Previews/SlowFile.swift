import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs
import LoopbackServer

/// A progressive JPEG file of a landscape on a slow server, under as many addresses as are needed.
struct SlowFile {
  /// The whole file takes so long: 238 kB at 1 Mbit/s.
  static let seconds = 1.9

  static let format = ImageFormat(
    name: "slow", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
    capacity: .count(64))

  let bytes: Data
  /// The end of the first stage of the file.
  let firstStageByteCount: Int

  init(_ effort: Effort) throws {
    bytes = try Landscape(number: 3).bitmap(effort.usualPhotograph)
      .data(encodedBy: JPEGEncoder(quality: 0.85, isProgressive: true))
    let decoder = try ImageDecoders.standard.decoder(for: bytes)
    guard
      var scanner = (decoder as? any ProgressiveImageDecoder)?
        .makePreviewScanner(of: bytes.count),
      let stage = bytes.lazy.flatMap({ scanner.receive(Data([$0])) })
        .first(where: { $0.kind == .frame })
    else { throw BenchFailure(description: "The progressive file has no stages here.") }
    firstStageByteCount = stage.byteCount
  }

  static func path(_ number: Int) -> String { "/\(number).jpg" }

  /// - Parameter count: Addresses, from 0 on.
  func serve(
    _ count: Int, noteSent: @escaping @Sendable (_ path: String, _ byteCount: Int) -> Void
  ) throws -> SlowFileServer {
    try SlowFileServer(
      Dictionary(uniqueKeysWithValues: (0..<count).map { (Self.path($0), bytes) }),
      byteRate: Double(bytes.count) / Self.seconds, noteSent: noteSent)
  }

  /// A source that does not give up a slow server.
  static var source: URLImageSource {
    var http = HTTPOptions()
    (http.lowestByteRate, http.totalTimeout) = (0, nil)
    return URLImageSource(http: http)
  }
}
