import FastImageCache
import FastImageCacheTesting
import Foundation
import Testing

@Suite("A filled cache", .timeLimit(.minutes(10)))
struct FilledCacheTests {
  private struct NoImage: Error {}

  private func bytes(_ image: CachedImage?) -> [UInt8]? {
    image.map { $0.withPixels { span in span.withUnsafeBytes { Array($0) } } }
  }

  // Not an asynchronous function: a preview is none either.
  @Test("has the images of all entities in all formats, at once")
  func isFilled() throws {
    let items = (1...3).map { Item(number: $0) }
    let cache = try ImageCache.filled(with: items, formats: [.small, .gray])
    for item in items {
      #expect(cache.cachedFormats(for: item) == [.small, .gray])
      #expect(cache.cachedImage(for: item, format: .small)?.isPrivate == false)
    }
    let images = items.map { bytes(cache.cachedImage(for: $0, format: .small)) }
    #expect(Set(images).count == 3)
    #expect(cache.cachedImage(for: Item(number: 4), format: .small) == nil)
  }

  @Test("has no samples without pixels")
  func refusesEmptySamples() {
    let size = PixelSize(width: 0, height: 8)
    #expect(throws: BitmapError.invalidSize(size)) { try Bitmap.sample(1, size: size) }
  }

  @Test("draws the images that it is given")
  func takesImages() throws {
    let cache = try ImageCache.filled(with: [Item(number: 1)], formats: [.small]) { _ in
      try .sample(9, size: PixelSize(width: 8, height: 8))
    }
    let sample = try Bitmap.sample(9, size: PixelSize(width: 8, height: 8))
    let pixels = sample.withPixels { span in span.withUnsafeBytes { Array($0) } }
    let image = try #require(cache.cachedImage(for: Item(number: 1), format: .small))
    #expect(bytes(image)?.prefix(4) == pixels.prefix(4))
    #expect(bytes(image)?.suffix(36).prefix(4) == pixels.suffix(36).prefix(4))
  }

  @Test("takes entities of several types")
  func takesMixture() throws {
    let item = Item(number: 1)
    let url = Item(number: 2).url
    let entities: [any ImageEntity] = [item, url]
    let cache = try ImageCache.filled(with: entities, formats: [.small])
    #expect(cache.containsImage(for: item, format: .small))
    #expect(cache.containsImage(for: url, format: .small))
  }

  @Test("keeps what fits, the last ones")
  func respectsCapacity() throws {
    let items = (1...6).map { Item(number: $0) }
    let cache = try ImageCache.filled(with: items, formats: [.small])
    #expect(
      items.map { cache.containsImage(for: $0, format: .small) } == [
        false, false, true, true, true, true,
      ])
  }

  @Test("reaches for nothing else, unless it has a source")
  func isOffline() async throws {
    let cache = try ImageCache.filled(with: [Item](), formats: [.small])
    do throws(ImageCacheError) {
      _ = try await cache.image(for: Item(number: 1), format: .small)
      Issue.record("There was an image.")
    } catch {
      guard case .sourceFailed(_, let underlying) = error else { throw error }
      #expect(underlying is ScriptedSourceError)
    }
    let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
    let other = try ImageCache.filled(with: [Item](), formats: [.small], source: source)
    _ = try await other.image(for: Item(number: 1), format: .small)
    #expect(source.loadCount() == 1)
  }

  @Test("throws what keeps an image from being made")
  func throwsErrors() throws {
    let formats = [ImageFormat.small, .gray]
    for isMixed in [false, true] {
      do throws(ImageCacheError) {
        _ =
          isMixed
          ? try ImageCache.filled(with: [Item(number: 1)] as [any ImageEntity], formats: formats) {
            _ in
            throw NoImage()
          }
          : try ImageCache.filled(with: [Item(number: 1)], formats: formats) { _ in
            throw NoImage()
          }
        Issue.record("It was filled.")
      } catch {
        guard case .drawingFailed(entity: 1, format: "small", let underlying) = error else {
          throw error
        }
        #expect(underlying is NoImage)
      }
    }
  }

  @Test("works like any other: what it holds can be removed and stored anew")
  func works() async throws {
    let item = Item(number: 1)
    let cache = try ImageCache.filled(with: [item], formats: [.small])
    try await cache.removeImage(for: item, format: .small)
    #expect(!cache.containsImage(for: item, format: .small))
    try await cache.store(.sample(2), for: item, format: .small)
    #expect(cache.containsImage(for: item, format: .small))
  }
}
