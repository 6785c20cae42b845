#if os(Linux)
  import FastImageCache
  import Glibc
  import TestSupport
  import Testing

  @Suite("A prefetch into memory", .timeLimit(.minutes(10)))
  struct ResidentPrefetchTests {
    /// How often this thread met a page that its process had not mapped, while it read an image.
    private static func faultCount(of image: CachedImage) -> Int {
      func count() -> Int {
        var usage = rusage()
        // `RUSAGE_THREAD`, which glibc shows to GNU sources only.
        return getrusage(.init(1), &usage) == 0 ? Int(usage.ru_minflt + usage.ru_majflt) : 0
      }
      return image.withPixels { span in
        let before = count()
        var sum: UInt8 = 0
        for offset in stride(from: 0, to: span.byteCount, by: 4096) {
          sum &+= span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        }
        return withExtendedLifetime(sum) { count() - before }
      }
    }

    @Test("has touched every page before an image is shown")
    func touchesPages() async throws {
      let format = ImageFormat("big", 512, capacity: 8)
      let fixture = try await Fixture([format])
      let photos = photos(0..<8)
      _ = await fixture.cache.prefetch(photos[..<4], format: format)
      _ = await fixture.cache.prefetch(photos[4...], format: format, depth: .memory)
      let faults = photos.map { photo in
        fixture.cache.cachedImage(for: photo, format: format).map(Self.faultCount) ?? .max
      }
      // 256 pages each, of which a kernel maps 16 or so around one that is touched.
      #expect(faults[4...].reduce(0, +) < faults[..<4].reduce(0, +) / 4, "\(faults)")
    }
  }
#endif
