#if os(Linux)
  import CTestProbes
  import FastImageCache
  import Foundation
  import Testing

  @Suite("The cost of a hit", .timeLimit(.minutes(10)))
  struct HitCostTests {
    /// The sanitizers make calls of their own.
    @Test("is no system call, awaited or not", .enabled(if: probe_counts_allocations() == 1))
    func makesNoSystemCall() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let fixture = try await Fixture()
        let photo = FixedPhoto()
        try await fixture.cache.store(solid(1), for: photo, format: .row)
        // What is set up at first use, in Swift's runtime and in malloc, is not the hit's.
        var number = try await hits(fixture.cache, photo)
        guard probe_forbid_system_calls() == 0 else { return }
        number += try await hits(fixture.cache, photo)
        probe_exit(number == 400 ? 7 : 8)
      }
    }

    @Test("notices a system call, so that the test above means something")
    func noticesSystemCall() async {
      await #expect(processExitsWith: .failure) {
        guard probe_forbid_system_calls() == 0 else { return }
        _ = getppid()
        probe_exit(0)
      }
    }

    /// In a process of its own, since events that another test observes in all caches take memory.
    @Test("is one allocation, the handle", .enabled(if: probe_counts_allocations() == 1))
    func allocatesHandleOnly() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let fixture = try await Fixture()
        let photo = FixedPhoto()
        try await fixture.cache.store(solid(1), for: photo, format: .row)
        _ = fixture.cache.cachedImage(for: photo, format: .row)
        let before = probe_allocation_count()
        var count = 0
        for _ in 0..<100 where fixture.cache.cachedImage(for: photo, format: .row) != nil {
          count += 1
        }
        let allocations = probe_allocation_count() - before
        probe_exit(count == 100 && allocations == 100 ? 7 : 8)
      }
    }
  }

  /// An entity that keeps its ids, as one in a scrolling list would.
  private struct FixedPhoto: ImageEntity {
    let imageID = ImageID(UUID())
    let version = ImageID("https://example.com/photographs/2026/summer/0001.jpg")
    let url = URL(fileURLWithPath: "/photo.jpg")
    func sourceURL(for format: ImageFormat) -> URL? { url }
    func versionID(for format: ImageFormat) -> ImageID { version }
  }

  private func hits(_ cache: ImageCache, _ photo: FixedPhoto) async throws -> Int {
    var count = 0
    for _ in 0..<100 {
      if cache.cachedImage(for: photo, format: .row) != nil { count += 1 }
      if try await !cache.image(for: photo, format: .row).isPrivate { count += 1 }
    }
    return count
  }
#endif
