#if !canImport(ImageIO)
  internal import CTestImages
  import Foundation
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache

  @Suite("A preview of a JPEG file", .timeLimit(.minutes(10)))
  struct JPEGPreviewTests {
    /// An image of slopes, with edges at every cell.
    private func jpeg(
      _ size: PixelSize, quality: Int32, sampling: UInt32, isProgressive: Bool = true,
      cell: Int = 50
    ) -> Data {
      var pixels: [UInt8] = []
      for y in 0..<size.height {
        for x in 0..<size.width {
          let edge = (x / cell + y / cell) % 2 * 60
          pixels += [UInt8(x * 150 / size.width + edge), UInt8(y * 190 / size.height), UInt8(edge)]
        }
      }
      var options = fic_test_jpeg()
      (options.width, options.height) = (UInt32(size.width), UInt32(size.height))
      (options.components, options.progressive, options.quality) = (3, isProgressive, quality)
      (options.h_sampling, options.v_sampling) = (sampling, sampling)
      let encoded = fic_test_encode_jpeg(options, pixels)
      return Data(bytesNoCopy: encoded.bytes, count: encoded.count, deallocator: .free)
    }

    @Test(
      "has every byte of the image once it is settled",
      arguments: [100, 90, 75, 50] as [Int32], [1, 2] as [UInt32])
    func settled(quality: Int32, sampling: UInt32) async throws {
      let data = jpeg(PixelSize(width: 803, height: 601), quality: quality, sampling: sampling)
      let slow = try await SlowFile(data, in: .large)
      #expect(slow.previews.last?.preview.isSettled == true)
      #expect(slow.previews.filter(\.preview.isSettled).count == 1)
      #expect(slow.previews.last?.pixels == slow.image)
    }

    @Test("has every byte of an image whose sides are cut off, once it is settled")
    func settledPart() async throws {
      let data = jpeg(PixelSize(width: 1603, height: 601), quality: 90, sampling: 2)
      let slow = try await SlowFile(data, in: .large, drawing: .aspectFill)
      #expect(slow.previews.filter(\.preview.isSettled).count == 1)
      #expect(slow.previews.last?.pixels == slow.image)
    }

    @Test("is decoded by the margin of the image")
    func hasMargin() async throws {
      // At 1/8 this is 1.9 times what is shown.
      let data = jpeg(PixelSize(width: 608, height: 456), quality: 90, sampling: 2)
      let slow = try await SlowFile(data, in: .large)
      #expect(slow.previews.last?.preview.isSettled == true)
      #expect(slow.previews.last?.pixels == slow.image)
    }

    /// A progressive file with the inks' profile of the corpus, and cyan that sRGB lacks.
    private func inks(_ size: PixelSize) throws -> Data {
      let file = try Data(contentsOf: ColorCorpus.url("inks.jpg"))
      let mark = try #require(file.range(of: Data("ICC_PROFILE\0".utf8)))
      // The segment's length counts itself, the mark and two numbers of pieces.
      let (high, low) = (Int(file[mark.lowerBound - 2]), Int(file[mark.lowerBound - 1]))
      let profile = file[(mark.upperBound + 2)...].prefix(high << 8 + low - 16)
      var pixels: [UInt8] = []
      for y in 0..<size.height {
        for x in 0..<size.width {
          // As JPEG stores inks: 0 is full.
          pixels += [UInt8(y * 255 / size.height), UInt8(255 - x * 100 / size.width), 255, 255]
        }
      }
      return profile.withUnsafeBytes { profile in
        var options = fic_test_jpeg()
        (options.width, options.height) = (UInt32(size.width), UInt32(size.height))
        (options.components, options.progressive, options.quality) = (4, true, 90)
        options.profile = profile.assumingMemoryBound(to: UInt8.self).baseAddress
        options.profile_count = profile.count
        let encoded = fic_test_encode_jpeg(options, pixels)
        return Data(bytesNoCopy: encoded.bytes, count: encoded.count, deallocator: .free)
      }
    }

    @Test("has the colours of its format, where those are Display P3 and the file has inks")
    func wideColors() async throws {
      let data = try inks(PixelSize(width: 403, height: 301))
      let wide = ImageFormat(
        name: "wide", family: "photos", size: .exact(PixelSize(width: 40, height: 30)),
        capacity: 16,
        colorSpace: .displayP3)
      let slow = try await SlowFile(data, in: wide)
      #expect(!slow.previews.isEmpty && slow.image[2] == 0)
      // The numbers of sRGB's most similar cyan would be 97 and more of red.
      #expect(slow.previews.allSatisfy { $0.pixels[2] < 10 })
    }

    @Test("is not called settled where the rest of the family needs a larger decode")
    func family() async throws {
      let data = jpeg(PixelSize(width: 403, height: 301), quality: 90, sampling: 1)
      let previews = try await SlowFile(data, in: .dot).previews
      #expect(!previews.isEmpty && previews.allSatisfy { !$0.preview.isSettled })
    }

    /// A file whose thumbnail is a smaller image of the same.
    private func withThumbnail() -> Data {
      let file = jpeg(PixelSize(width: 400, height: 300), quality: 90, sampling: 2)
      let thumbnail = jpeg(
        PixelSize(width: 160, height: 120), quality: 90, sampling: 1, isProgressive: false,
        cell: 20)
      func number(_ value: Int, _ bytes: Int) -> Data {
        Data((0..<bytes).map { UInt8(value >> (8 * (bytes - 1 - $0)) & 0xFF) })
      }
      func entry(_ tag: Int, _ value: Int) -> Data {
        number(tag, 2) + number(4, 2) + number(1, 4) + number(value, 4)
      }
      // An empty directory, and one that names the thumbnail behind it.
      var exif = Data("Exif\0\0MM\0*".utf8) + number(8, 4) + number(0, 2) + number(14, 4)
      exif += number(2, 2) + entry(0x0201, 44) + entry(0x0202, thumbnail.count) + number(0, 4)
      exif += thumbnail
      return file.prefix(2) + Data([0xFF, 0xE1]) + number(exif.count + 2, 2) + exif
        + file.dropFirst(2)
    }

    private func difference(_ first: [UInt8], _ second: [UInt8]) -> Double {
      zip(first, second).reduce(0.0) { $0 + abs(Double($1.0) - Double($1.1)) } / Double(first.count)
    }

    @Test("is the camera's thumbnail before all others, where that is asked for")
    func thumbnail() async throws {
      let data = withThumbnail()
      let slow = try await SlowFile(data, in: .large, [.frames, .embedded])
      let (first, rest) = (try #require(slow.previews.first), slow.previews.dropFirst())
      #expect(first.preview == ImagePreview(kind: .embedded, isSettled: false))
      #expect(difference(first.pixels, slow.image) < 6)
      // The thumbnail has more pixels than the first frame has means.
      #expect(rest.first?.preview.kind == .frame(1))
      let differences = slow.previews.map { difference($0.pixels, slow.image) }
      #expect(differences == differences.sorted(by: >))
      #expect(rest.allSatisfy { $0.preview.kind != .embedded })
      #expect(rest.allSatisfy { !$0.preview.isSettled || $0.pixels == slow.image })
      let usual = try await SlowFile(data, in: .large)
      #expect(usual.previews.count == slow.previews.count && usual.image == slow.image)
    }

    @Test("has the image's top rows and nothing below, where rows are asked for")
    func rows() async throws {
      let data = jpeg(
        PixelSize(width: 403, height: 302), quality: 90, sampling: 2, isProgressive: false)
      let slow = try await SlowFile(data, in: .large, .rows)
      let usual = try await SlowFile(data, in: .large)
      #expect(usual.previews.isEmpty && usual.image == slow.image)
      try #require(slow.previews.count == 3)
      var last = 0.0
      let rowBytes = slow.image.count / 30
      for (pixels, preview) in slow.previews {
        guard case .rows(let part) = preview.kind else {
          throw ImageSourceError.network("\(preview)")
        }
        #expect(part > last && part < 1)
        last = part
        // The row at the boundary is made of both.
        let whole = Int(part * 30) - 1
        let above = zip(pixels, slow.image).prefix(whole * rowBytes)
        #expect(above.allSatisfy { abs(Int($0) - Int($1)) <= 2 })
        #expect(pixels.dropFirst((whole + 3) * rowBytes).allSatisfy { $0 == 0 })
      }
    }

    @Test("is made of a download")
    func download() async throws {
      let data = jpeg(PixelSize(width: 803, height: 601), quality: 90, sampling: 2)
      let gate = Gate()
      let server = try HTTPServer { _ in
        let half = data.count / 2
        return .chunked([.bytes(data.prefix(half)), .wait(gate), .bytes(data.dropFirst(half))])
      }
      let fixture = try await Fixture([.large], from: URLImageSource())
      var options = LoadOptions.previewing
      options.previews.delay = .zero
      var previewCount = 0
      var last: CachedImage?
      let photo = Photo("1", url: server.url("/1.jpg").absoluteString)
      for try await image in fixture.cache.updates(for: photo, format: .large, options: options) {
        if image.isPrivate { previewCount += 1 }
        gate.open()
        last = image
      }
      #expect(previewCount > 0 && last?.isPrivate == false)
    }
  }

  @Suite("A preview of an interlaced PNG file", .timeLimit(.minutes(10)))
  struct PNGPreviewTests {
    /// A smooth image of three curves.
    private func png(_ size: PixelSize, isInterlaced: Bool = true) -> Data {
      var pixels: [UInt8] = []
      for y in 0..<size.height {
        for x in 0..<size.width {
          let (across, down) = (Double(x) / Double(size.width), Double(y) / Double(size.height))
          let colors = [across + down / 4, down, across * down].map { 120 + 100 * sin($0 * 5) }
          pixels += colors.map { UInt8($0) }
        }
      }
      var options = fic_test_png()
      (options.width, options.height) = (UInt32(size.width), UInt32(size.height))
      (options.color_type, options.bit_depth, options.interlaced) = (2, 8, isInterlaced)
      options.transparent_color = (-1, 0, 0)
      let encoded = fic_test_encode_png(options, pixels)
      return Data(bytesNoCopy: encoded.bytes, count: encoded.count, deallocator: .free)
    }

    @Test("shows the whole frame where it will be, each finer than the one before")
    func finer() async throws {
      let slow = try await SlowFile(png(PixelSize(width: 83, height: 61)), in: .large)
      let differences = slow.previews.map { preview in
        zip(preview.pixels, slow.image).reduce(0.0) { $0 + abs(Double($1.0) - Double($1.1)) }
          / Double(slow.image.count)
      }
      #expect(slow.previews.map(\.preview.kind) == [.frame(1), .frame(2), .frame(3)])
      #expect(slow.previews.allSatisfy { !$0.preview.isSettled })
      #expect(zip(differences, differences.dropFirst()).allSatisfy { $0 >= $1 })
      // An image that is shifted by a pixel differs by more.
      #expect(differences.allSatisfy { $0 < 0.7 }, "\(differences)")
    }

    @Test("is not made of a file that has its rows one after the other")
    func plain() async throws {
      let data = png(PixelSize(width: 83, height: 61), isInterlaced: false)
      #expect(try await SlowFile(data, in: .large).previews.isEmpty)
    }
  }
#endif
