import FastImageCache
import Foundation
import Locking

extension Step {
  /// What an opening is given: folders, devices, decoders, formats, lifetimes.
  static let openings: [Step] = [
    Step(
      "device and storage",
      [
        "ImageCache.Configuration.device", "ImageCache.Configuration.requiresStorage",
        "ImageFormat.Devices.init(rawValue:)",
      ], need: .cache
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: 1)
      let entity = FreshEntity(turn)
      let device = ImageFormat.Devices(rawValue: ImageFormat.Devices.tv.rawValue)
      let format = ImageFormat(
        name: "own", size: .exact(PixelSize(width: 16, height: 16)), devices: device)
      // A file where the folder is to be.
      let file = turn.world.folder.appending(path: "a file \(turn.number)")
      try Data().write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      var configuration = ImageCache.Configuration()
      configuration.directory = file
      let isThere = turn.chance(1, in: 2)
      configuration.device = isThere ? .tv : .phone
      let cache = try await turn.call("an opening without a folder") {
        try await ImageCache(namespace: "own", formats: [format], configuration: configuration)
      }
      var isReady = false
      if case .ready = cache.storageState { isReady = true }
      turn.expect(isReady != isThere, "\(cache.storageState)")
      let image = try await turn.call("a store for a device") {
        try await cache.store(try mark.bitmap(), for: entity, format: format)
      }
      turn.expect(Mark(image) == mark, .wrongPicture, "\(mark) for \(configuration.device)")
      turn.expect(
        cache.containsImage(for: entity, format: format) == isThere, "\(configuration.device)")
      await cache.close()
      configuration.requiresStorage = true
      do {
        _ = try await turn.call("an opening that needs its folder") {
          try await ImageCache(namespace: "own", formats: [format], configuration: configuration)
        }
        turn.expect(false, "opened in a file")
      } catch let error as ImageCacheError {
        guard case .storageUnavailable = error else { return turn.expect(false, "\(error)") }
      }
    },

    Step(
      "a program's decoder",
      [
        "ImageCache.Configuration.decoders", "ImageDecoder.recognizes(_:)",
        "ImageDecoder.header(of:)", "ImageDecoder.decode(_:_:)",
        "ImageDecoder.workingByteCount(for:minimumSize:)", "ImageHeader.size",
        "ImageHeader.hasAlpha", "ImageHeader.isGray", "ImageHeader.wholeImageByteCount",
        "ImageHeader.init(size:hasAlpha:isGray:wholeImageByteCount:)", "DecodeRequest.settings",
        "DecodeRequest.colorSpace", "DecodeRequest.damagedImages", "DecodeRequest.limits",
        "DecodeRequest.minimumSize", "DecodeRequest.isCancelled",
      ], need: .cache
    ) { turn in
      let (mark, decoder) = (turn.world.timeline.makeHand(of: 1), MarkDecoder())
      let cache = try turn.ownCache(of: .closure { _ in .encoded(MarkDecoder.file(of: mark)) }) {
        $0.decoders = [decoder] + ImageDecoders.standard
        $0.damagedImages = .showPart
        $0.limits.sideLength = 4_096
      }
      var options = LoadOptions()
      options.decoderSettings = ["step": "\(turn.number)"]
      let image = try await turn.call("a request with a decoder") {
        try await cache.image(for: FreshEntity(turn), format: PlayFormats.row, options: options)
      }
      turn.expect(Mark(image) == mark, .wrongPicture, "\(mark) of a program's decoder")
      let requests = decoder.requests.withLock { $0 }
      turn.expect(requests.count == 1, .wrongCount, "\(requests.count) decodes")
      let request = requests.first
      turn.expect(request?.settings == options.decoderSettings, "\(String(describing: request))")
      turn.expect(
        request?.damagedImages == .showPart && request?.limits.sideLength == 4_096
          && request?.colorSpace == .sRGB && request?.isCancelled() == false,
        "\(String(describing: request))")
      turn.expect(
        request?.minimumSize.map { $0.width >= 16 && $0.height >= 16 } ?? true,
        "\(String(describing: request?.minimumSize))")
      await cache.close()
    },

    Step(
      "lifetime of images",
      [
        "ImageFormat.init(name:family:size:scale:pixelFormat:revision:capacity:devices:protection:quality:colorSpace:animation:lifetime:lifetimeStart:)",
        "ImageFormat.Size.exact(_:)", "ImageFormat.Size.exact(points:)",
        "ImageFormat.Size.fitting(_:)", "ImageFormat.Size.fitting(points:)",
        "ImageFormat.Capacity.init(integerLiteral:)",
      ], need: .cache
    ) { turn in
      let folder = turn.world.folder.appending(path: "lifetimes \(turn.number)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let side = 8 * (1 + turn.roll(4))
      let formats = [
        ImageFormat(
          name: "exact", size: .exact(points: Canvas.Size(width: Double(side), height: 8)),
          scale: 2, capacity: 4, lifetime: .seconds(60), lifetimeStart: .store),
        ImageFormat(
          name: "fitting", size: .fitting(points: Canvas.Size(width: Double(side), height: 100)),
          scale: 2, pixelFormat: .bgrx32, revision: turn.roll(3), capacity: 4),
      ]
      var configuration = ImageCache.Configuration()
      (configuration.directory, configuration.device) = (folder, .all)
      let (mark, entity) = (turn.world.timeline.makeHand(of: 1), FreshEntity(turn))
      let cache = try await ImageCache(
        namespace: "own", formats: formats, configuration: configuration)
      for format in formats {
        let image = try await turn.call("a store in a format") {
          try await cache.store(try mark.bitmap(), for: entity, format: format)
        }
        let size =
          format.keepsProportions
          ? PixelSize(width: 2 * side, height: 2 * side) : PixelSize(width: 2 * side, height: 16)
        turn.expect(image.size == size && image.scale == 2, "\(image.size), not \(size)")
        turn.expect(
          !format.keepsProportions || Mark(image) == mark, .wrongPicture, "\(mark) in \(format)")
      }
      await cache.close()
      let events = ImageCache.allEvents(bufferSize: 1 << 16)
      configuration.setNow(Date(timeIntervalSinceNow: 61))
      let later = try await ImageCache(
        namespace: "own", formats: formats, configuration: configuration)
      // The opening removes what is too old, in the background.
      await turn.call("the removal of what is too old") {
        for await told in events {
          if case .removed(entity.imageID, "exact") = told.event { break }
        }
      }
      turn.expect(!later.containsImage(for: entity, format: formats[0]), .leftover, "too old")
      turn.expect(later.containsImage(for: entity, format: formats[1]), .wrongCount, "not too old")
      await later.close()
    },
  ]
}

/// A decoder of a program's own, whose files are a mark's cells.
private final class MarkDecoder: ImageDecoder {
  let requests = Lock<[DecodeRequest]>([])

  static func file(of mark: Mark) -> Data {
    Data("MARK".utf8) + Data(mark.cells.map { $0 ? 1 : 0 })
  }

  func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: "MARK".utf8) }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    guard data.count == 4 + 48 else { throw .truncated }
    var header = ImageHeader(size: PixelSize(width: 8, height: 8), wholeImageByteCount: 1)
    header.size = PixelSize(width: 64, height: 64)
    (header.hasAlpha, header.isGray) = (false, false)
    header.wholeImageByteCount = 64 * 64 * 4
    return header
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    requests.withLock { $0.append(request) }
    guard let mark = Mark(cells: data.dropFirst(4).map { $0 == 1 }) else { throw .damaged("") }
    do { return try mark.bitmap() } catch { throw .outOfMemory }
  }
}
