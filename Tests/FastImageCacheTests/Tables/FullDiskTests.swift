#if os(Linux)
  import FastImageCache
  import Foundation
  import TestSupport
  import Testing

  /// In a process whose files may not grow, which fails as a full disk does.
  @Suite("A full disk", .timeLimit(.minutes(10)))
  struct FullDiskTests {
    /// - Parameter byteCount: How long files may become.
    private static func fillDisk(behind byteCount: UInt = 0) {
      signal(SIGXFSZ, SIG_IGN)
      var limits = rlimit(rlim_cur: 0, rlim_max: .max)
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      guard getrlimit(resource, &limits) == 0 else { exit(2) }
      limits.rlim_cur = byteCount
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

    @Test("is told to who opens, stores and empties, and shows to nobody who asks for an image")
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

    @Test("leaves no part of a new table's file behind, which would count as a table")
    func leavesNoPart() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let directory = try TemporaryDirectory()
        // Room for the header, and not for the log of removals behind it.
        Self.fillDisk(behind: 4096)
        for _ in 0..<2 {
          let cache = try await Fixture(directory: directory).cache
          guard case .unavailable = cache.storageState else { exit(1) }
          await cache.close()
        }
        exit(7)
      }
    }
  }
#endif
