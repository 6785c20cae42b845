#if os(Linux)
  import FastImageCache
  import Foundation
  import TestSupport
  import Testing

  /// In a process whose files may not grow, which fails as a full disk does.
  @Suite("A full disk", .timeLimit(.minutes(10)))
  struct FullDiskTests {
    private static func fillDisk() {
      signal(SIGXFSZ, SIG_IGN)
      var limits = rlimit(rlim_cur: 0, rlim_max: .max)
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      guard getrlimit(resource, &limits) == 0 else { exit(2) }
      limits.rlim_cur = 0
      guard setrlimit(resource, &limits) == 0 else { exit(2) }
    }

    private static func isFull(_ body: () async throws -> Void) async -> Bool {
      do {
        try await body()
        return false
      } catch ImageCacheError.diskFull {
        return true
      } catch {
        return false
      }
    }

    @Test("is told to who opens, stores and empties, and shows to nobody who asks for a picture")
    func isTold() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let fixture = try await Fixture()
        let (cache, photo) = (fixture.cache, Photo("a", url: "test:/5"))
        Self.fillDisk()
        let isShown = try await cache.image(for: photo, format: .row).solidNumber == 5
        let outcomes = [
          await Self.isFull { try await cache.store(solid(1), for: photo, format: .row) },
          await Self.isFull { try await cache.removeAllImages() },
          await Self.isFull { _ = try await Fixture() },
        ]
        exit(isShown && outcomes.allSatisfy { $0 } ? 7 : 1)
      }
    }
  }
#endif
