import FastImageCache
import Foundation

extension Step {
  /// What is made of an image's pixels, and of files.
  static let encodings: [Step] = [
    Step(
      "encoders",
      [
        "JPEGEncoder.init(quality:isProgressive:colors:)", "JPEGEncoder.quality",
        "JPEGEncoder.isProgressive", "JPEGEncoder.colors", "JPEGEncoder.encode(_:layout:)",
        "JPEGEncoder.encode(_:layout:colorSpace:)", "PNGEncoder.init(colors:)",
        "PNGEncoder.colors", "PNGEncoder.encode(_:layout:)",
        "PNGEncoder.encode(_:layout:colorSpace:)", "WebPEncoder.init(quality:colors:)",
        "WebPEncoder.colors", "WebPEncoder.encode(_:layout:)",
        "WebPEncoder.encode(_:layout:colorSpace:)", "ImageEncoder.jpeg(quality:)",
        "ImageEncoder.webp(quality:)", "ImageEncoder.encode(_:layout:)",
        "ImageEncoder.encode(_:layout:colorSpace:)", "EncodedColors.gray(on:)",
        "EncodedColors.opaque(on:)", "EncodedColors.palette(count:)",
        "CachedImage.data(encodedBy:)", "Bitmap.data(encodedBy:)", "Bitmap.jpegData(quality:)",
        "CachedImage.withPixels(_:)", "Bitmap.withPixels(_:)",
      ], need: .cache
    ) { turn in
      let (_, mark, image) = try await turn.storeFresh()
      let colors: EncodedColors = turn.pick([
        .all, .gray(on: .white), .opaque(on: .black), .palette(count: 16),
      ])
      var (jpeg, png, webp) = (JPEGEncoder(), PNGEncoder(), WebPEncoder(quality: 0.9))
      (jpeg.quality, jpeg.isProgressive, jpeg.colors) = (0.9, turn.chance(1, in: 2), colors)
      (png.colors, webp.colors) = (colors, colors)
      let bitmap = try image.makeBitmap()
      var files = [
        try bitmap.jpegData(quality: 0.9), try bitmap.data(encodedBy: .jpeg(quality: 0.95)),
        try image.data(encodedBy: .webp(quality: 0.95)),
      ]
      let encoders: [any ImageEncoder] = [jpeg, png, webp]
      for encoder in encoders {
        files.append(
          try image.withPixels { try encoder.encode($0, layout: image.layout, colorSpace: .sRGB) })
        files.append(
          try bitmap.withPixels { try encoder.encode($0, layout: bitmap.layout) })
      }
      files.append(try bitmap.withPixels { try jpeg.encode($0, layout: bitmap.layout) })
      files.append(try bitmap.withPixels { try png.encode($0, layout: bitmap.layout) })
      files.append(try bitmap.withPixels { try webp.encode($0, layout: bitmap.layout) })
      for (index, file) in files.enumerated() {
        let seen = (try? Bitmap(decoding: file)).flatMap { Mark($0) }
        turn.expect(seen == mark, .wrongPicture, "\(mark), encoding \(index) of \(colors)")
      }
    },

    Step(
      "bitmaps",
      [
        "Bitmap.init(contentsOf:upTo:colorSpace:decoders:limits:)",
        "Bitmap.init(layout:colorSpace:filling:)", "Bitmap.init(copying:layout:colorSpace:)",
        "Bitmap.init(size:format:colorSpace:filling:)",
        "Bitmap.init(decoding:upTo:colorSpace:decoders:limits:)", "CachedImage.==(_:_:)",
        "CachedImage.hash(into:)", "CachedImage.prepareForDisplay()",
      ], need: .cache
    ) { turn in
      let (entity, mark, image) = try await turn.storeFresh()
      await image.prepareForDisplay()
      let file = turn.world.folder.appending(path: "bitmap \(turn.number)")
      defer { try? FileManager.default.removeItem(at: file) }
      try image.pngData().write(to: file)
      let bitmap = try Bitmap(contentsOf: file)
      let bytes = bitmap.withPixels { $0.withUnsafeBytes { Array($0) } }
      let others = [
        bitmap, try Bitmap(copying: bytes, layout: bitmap.layout),
        try Bitmap(layout: bitmap.layout) { $0.copyBytes(from: bytes) },
        try Bitmap(contentsOf: file, upTo: PixelSize(width: 16, height: 16)),
        try Bitmap(decoding: try Data(contentsOf: file), upTo: bitmap.size),
      ]
      for (index, other) in others.enumerated() {
        turn.expect(Mark(other) == mark, .wrongPicture, "\(mark), bitmap \(index)")
      }
      turn.expect(bitmap.size == image.size && !bitmap.isDamaged, "\(bitmap.size)")
      // Two leases on one image are equal, unless their table is copied from.
      let again = turn.cache.cachedImage(for: entity, format: turn.format)
      if turn.isCalm, let again, let more = turn.cache.cachedImage(for: entity, format: turn.format)
      {
        turn.expect(
          again == more && Set([again, more]).count == 1 || !turn.isCalm || again.isPrivate,
          "two hits differ")
      }
      turn.expect(image == image && image != image.other(in: turn), "an image and another one")
    },

    Step(
      "placeholders",
      [
        "Bitmap.thumbHash()", "Bitmap.init(thumbHash:)", "Bitmap.init(blurHash:size:)",
        "PlaceholderHash.makeBitmap(proportions:)",
      ], need: .cache
    ) { turn in
      let (_, _, image) = try await turn.storeFresh()
      let hash = try image.makeBitmap().thumbHash()
      let (one, two) = (
        try Bitmap(thumbHash: hash),
        try PlaceholderHash.thumbHash(hash).makeBitmap(proportions: image.size)
      )
      turn.expect(one.size == PixelSize(width: 32, height: 32), "\(one.size)")
      turn.expect(one.bytes == two.bytes, .wrongPicture, "two bitmaps of a ThumbHash")
      // The picture is about as bright as its hash.
      let difference = abs(one.brightness - (try image.makeBitmap()).brightness)
      turn.expect(difference < 96, .wrongPicture, "brighter by \(difference)")
      let text = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
      let three = try Bitmap(blurHash: text, size: PixelSize(width: 32, height: 16))
      let four = try PlaceholderHash.blurHash(text)
        .makeBitmap(proportions: PixelSize(width: 200, height: 100))
      turn.expect(three.bytes == four.bytes, .wrongPicture, "two bitmaps of a BlurHash")
    },
  ]
}

extension CachedImage {
  /// An image of the same pixels that is another one.
  fileprivate func other(in turn: Turn) -> CachedImage? {
    turn.cache.cachedImage(for: FreshEntity(turn, "never"), format: turn.format)
  }
}

extension Bitmap {
  fileprivate var bytes: [UInt8] { withPixels { $0.withUnsafeBytes { Array($0) } } }

  /// The mean of all bytes but the fourth of each pixel.
  fileprivate var brightness: Int {
    let all = (try? Bitmap(decoding: pngData()))?.bytes ?? []
    let colors = all.enumerated().filter { $0.offset % 4 != 3 }.map { Int($0.element) }
    return colors.reduce(0, +) / max(1, colors.count)
  }
}
