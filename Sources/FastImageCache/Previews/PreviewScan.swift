import Foundation
import ImageCodecs
import ImageSources

/// The search for stages in the bytes of one arrival: each byte is looked at once, beginning with the first,
/// whenever somebody begins to want previews. The header is read when the first preview is due: most files are
/// whole before.
struct PreviewScan {
  /// A file's decoder and header.
  struct Opened: Sendable {
    let decoder: any ProgressiveImageDecoder
    let header: ImageHeader
  }

  /// Bytes that came before they were wanted are looked at in pieces of this size.
  private static let pieceByteCount = 256 << 10

  /// The decoder is chosen by so many bytes.
  private static let firstByteCount = 64

  private var scannedByteCount = 0
  private var search: (decoder: any ProgressiveImageDecoder, scanner: any PreviewScanner)?
  private var opened: Opened?
  /// Whether no stage is worth anything.
  private var isHopeless = false

  /// Looks at all bytes that have come.
  ///
  /// - Parameter newest: The last of them.
  /// - Returns: The newest stage of each kind that is found.
  mutating func scan(
    _ newest: Data, of arrival: DownloadBuffer, by decoders: [any ImageDecoder]
  ) -> [PreviewStage] {
    let byteCount = arrival.byteCount
    guard !isHopeless, byteCount >= Self.firstByteCount else { return [] }
    if search == nil {
      guard let bytes = arrival.copy(0..<Self.firstByteCount),
        let decoder = decoders.first(where: { $0.recognizes(bytes) })
          as? any ProgressiveImageDecoder
      else {
        isHopeless = true
        return []
      }
      search = (decoder, decoder.makePreviewScanner(of: arrival.terms.byteCount))
    }
    var stages: [PreviewStage.Kind: PreviewStage] = [:]
    while scannedByteCount < byteCount {
      let end = min(scannedByteCount + Self.pieceByteCount, byteCount)
      let isNewest = byteCount - scannedByteCount == newest.count
      guard let piece = isNewest ? newest : arrival.copy(scannedByteCount..<end) else { break }
      scannedByteCount += piece.count
      for stage in search?.scanner.receive(piece) ?? [] { stages[stage.kind] = stage }
    }
    return stages.values.filter { (1...byteCount).contains($0.byteCount) }
  }

  /// The file's decoder and header; `nil` for a file whose header cannot be read. It has no preview, and tells
  /// why when all of it is there.
  ///
  /// - Parameter stage: A stage that was found. Its bytes are copied on the thread that delivers bytes, once.
  mutating func open(_ arrival: DownloadBuffer, upTo stage: PreviewStage) -> Opened? {
    if let opened { return opened }
    guard !isHopeless, let decoder = search?.decoder, let bytes = arrival.copy(0..<stage.byteCount),
      let header = try? decoder.header(of: bytes)
    else {
      isHopeless = true
      return nil
    }
    opened = Opened(decoder: decoder, header: header)
    return opened
  }
}
