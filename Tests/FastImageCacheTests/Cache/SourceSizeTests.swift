import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The size of a source", .timeLimit(.minutes(10)))
struct SourceSizeTests {
  private let photo = Photo("7")
  private let size = PixelSize(width: 30, height: 20)

  @Test("comes with each image of it, in later sessions, with new metadata and under another id")
  func comesWithImages() async throws {
    let directory = try TemporaryDirectory()
    let bytes = try solid(7, size: size).pngData()
    do {
      let fixture = try await Fixture(
        [.large, .dot], from: EncodedSource { _, _ in .encoded(bytes) }, directory: directory)
      let image = try await fixture.image(photo, .large)
      #expect(image.sourceSize == size && image.size != size)
      await fixture.quiet()
      try await fixture.cache.setMetadata(Data([1]), for: photo, format: .large)
      await fixture.cache.close()
    }
    let fixture = try await Fixture([.large, .dot], directory: directory)
    for format in [ImageFormat.large, .dot] {
      #expect(fixture.cache.cachedImage(for: photo, format: format)?.sourceSize == size)
    }
    try await fixture.cache.moveImages(from: "7", to: "8")
    let moved = Photo("8", version: photo.versionID(for: .large))
    let image = try #require(fixture.cache.cachedImage(for: moved, format: .large))
    #expect(image.sourceSize == size && image.metadata == Data([1]))
    #expect(try await fixture.cache.sourceSize(for: moved, format: .large) == size)
    #expect(fixture.source.started.value == 0)
  }

  @Test("is that of the image that an entity or a source gives, and not that of the hook's")
  func isOfBitmaps() async throws {
    var own = Photo("own")
    own.ownImage = { [size] _ in .bitmap(try solid(3, size: size)) }
    let fixture = try await Fixture { $0.willStore = { $0.bitmap = try solid(4) } }
    #expect(try await fixture.image(own).sourceSize == size)
    #expect(try await fixture.image(photo).sourceSize == PixelSize(width: 16, height: 16))
    #expect(try await fixture.cache.sourceSize(for: own, format: .row) == size)
  }

  @Test("is unknown of an image that was stored by hand")
  func isUnknown() async throws {
    let fixture = try await Fixture()
    #expect(try await fixture.cache.store(solid(1), for: photo, format: .row).sourceSize == nil)
    let bytes = try solid(1).pngData()
    #expect(try await fixture.cache.store(bytes, for: photo, format: .row).sourceSize == nil)
    #expect(
      try await fixture.cache.sourceSize(for: photo, format: .row)
        == PixelSize(width: 16, height: 16))
    #expect(fixture.source.started.value == 1)
  }

  @Test("is that of the upright image", arguments: [false, true])
  func isUpright(isStored: Bool) async throws {
    let bytes = turned(try solid(7, size: size).jpegData())
    let fixture = try await Fixture(from: EncodedSource { _, _ in .encoded(bytes) })
    let upright = PixelSize(width: 20, height: 30)
    if isStored {
      #expect(try await fixture.image(photo).sourceSize == upright)
    }
    #expect(try await fixture.cache.sourceSize(for: photo, format: .row) == upright)
    #expect(fixture.cache.containsImage(for: photo, format: .row) == isStored)
  }

  @Test("is known of a kept original, which is not read for it where the store tells")
  func asksOriginal() async throws {
    let directory = try TemporaryDirectory()
    let store = OriginalStore(directory: directory.url, byteLimit: 1 << 24)
    let source = EncodedSource()
    let fixture = try await Fixture(from: source) { $0.originals = store }
    _ = try await fixture.image(photo)
    await fixture.cache.loadsHaveEnded()
    try await fixture.cache.removeImage(for: photo, format: .row)
    let expected = PixelSize(width: 16, height: 16)
    #expect(try await fixture.cache.sourceSize(for: photo, format: .row) == expected)
    let originals = MemoryOriginals()
    try originals.put(7, as: "test:/7")
    let other = try await Fixture(from: source, originals: originals)
    #expect(try await other.cache.sourceSize(for: photo, format: .row) == expected)
    #expect(source.started.value == 1 && originals.reads.value == 1)
  }

  enum Kind: CaseIterable { case jpeg, turnedJPEG, png, turnedPNG }

  @Test("needs the first bytes only, and stops the rest", arguments: Kind.allCases)
  func stopsDownload(_ kind: Kind) async throws {
    let image = try noise(PixelSize(width: 300, height: 200))
    let bytes =
      switch kind {
      case .jpeg: try image.jpegData()
      case .turnedJPEG: turned(try image.jpegData())
      case .png: try image.pngData()
      case .turnedPNG: turned(png: try image.pngData())
      }
    let never = CancellableGate()
    let source = EncodedSource { request, _ in
      let buffer = request.begin(ResponseMetadata(received: Date()))
      for start in stride(from: 0, to: 1500, by: 10) {
        try buffer.append(bytes[start..<start + 10])
      }
      // Whoever waits for more waits until the time limit.
      try await never.pass()
      return .arrived(buffer)
    }
    let fixture = try await Fixture(from: source)
    let size = try await fixture.cache.sourceSize(for: photo, format: .row)
    let isTurned = kind == .turnedJPEG || kind == .turnedPNG
    #expect(size == PixelSize(width: isTurned ? 200 : 300, height: isTurned ? 300 : 200))
    #expect(fixture.cache.registry.counts == (0, 0))
    #expect(fixture.cache.registry.resources[.network].counts.inside == 0)
  }

  @Test("fails as its source does, and with the caller's cancellation")
  func fails() async throws {
    let gate = CancellableGate()
    let source = EncodedSource { _, call in
      if call == 1 { throw ImageSourceError.httpStatus(404) }
      try await gate.pass()
      return .encoded(Data())
    }
    let fixture = try await Fixture(from: source)
    await #expect(
      throws: ImageCacheError.sourceFailed(
        photo.url, underlying: ImageSourceError.httpStatus(404))
    ) { try await fixture.cache.sourceSize(for: photo, format: .row) }
    let asking = Task { try await fixture.cache.sourceSize(for: photo, format: .row) }
    await source.started.reaches(2)
    asking.cancel()
    await #expect(throws: ImageCacheError.cancelled) { try await asking.value }
    let none = Photo("none", url: "")
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.sourceSize(for: none, format: .row)
    }
  }

  /// A file with many bytes.
  private func noise(_ size: PixelSize) throws -> Bitmap {
    var numbers = SplitMix64(state: 1)
    return try Bitmap(layout: PixelLayout(for: size, format: .bgrx32)) { bytes in
      for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: numbers.next()) }
    }
  }

  /// One entry: orientation 6, which turns the image by a quarter.
  private let exif = Data([
    0x49, 0x49, 0x2a, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
  ])

  private func turned(_ jpeg: Data) -> Data {
    let content = Data("Exif\0\0".utf8) + exif
    return jpeg.prefix(2) + Data([0xff, 0xe1, 0, UInt8(content.count + 2)]) + content
      + jpeg.dropFirst(2)
  }

  private func turned(png: Data) -> Data {
    func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
    let chunk = Data("eXIf".utf8) + exif
    return png.prefix(33) + number(UInt32(exif.count)) + chunk + number(crc(chunk))
      + png.dropFirst(33)
  }

  private func crc(_ bytes: Data) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xedb8_8320 : 0) }
    }
  }
}
