import CommandSupport
import FastImageCache
import Foundation

/// The child that uses a whole cache at a limit of the system.
struct LimitedWork {
  enum Limit: Int, CaseIterable {
    /// RLIMIT_NOFILE: no descriptor is left.
    case descriptors
    /// RLIMIT_AS: a table cannot be mapped.
    case addressSpace
    /// RLIMIT_FSIZE: a table's file cannot grow.
    case fileSize
    /// The file system is full.
    case disk
  }

  private static let imageCount = 40
  /// No pause after failures is longer than this many attempts.
  private static let longestPause = 1100

  private let path: String
  private let limit: Limit

  init(path: String, limit: Int) throws {
    guard let limit = Limit(rawValue: limit) else { throw UsageError("no limit \(limit)") }
    self.path = path
    self.limit = limit
  }

  func run() async throws -> Int32 {
    // More address space than its limit leaves.
    let format = Photograph.format(
      capacity: limit == .addressSpace ? .bytes(1 << 30) : .count(2 * Self.imageCount))
    if limit == .addressSpace {
      try await constrain()
      let cache = try await Photograph.cache(in: path, formats: [format])
      guard try await loadAll(cache, format) else { return ChildVerdict.sawWrongImage }
      await cache.close()
      return ChildVerdict.done
    }
    let cache = try await Photograph.cache(in: path, formats: [format])
    try await constrain()
    guard try await loadAll(cache, format) else { return ChildVerdict.sawWrongImage }
    if limit == .descriptors, try await opensAnother() { return ChildVerdict.failed }
    try relax()
    let resumes = try await storesAgain(cache, format)
    await cache.close()
    return resumes ? ChildVerdict.done : ChildVerdict.failed
  }

  /// Each image comes, whether or not it can be kept.
  private func loadAll(_ cache: ImageCache, _ format: ImageFormat) async throws -> Bool {
    for entity in 0..<Self.imageCount {
      let photo = ImageVersion(entity: entity, version: 1)
      let image = try await cache.image(for: Photograph(photo), format: format)
      guard image.shows(photo) else { return false }
      if let again = cache.cachedImage(for: Photograph(photo), format: format) {
        guard again.shows(photo) else { return false }
      }
    }
    return true
  }

  private func storesAgain(_ cache: ImageCache, _ format: ImageFormat) async throws -> Bool {
    let image = ImageVersion(entity: Self.imageCount, version: 1)
    for _ in 0..<Self.longestPause {
      _ = try await cache.image(for: Photograph(image), format: format)
      if let kept = cache.cachedImage(for: Photograph(image), format: format) {
        return kept.shows(image)
      }
    }
    return false
  }

  /// Another table needs a descriptor, of which there is none.
  private func opensAnother() async throws -> Bool {
    do {
      _ = try await Photograph.cache(
        in: path, formats: [Photograph.format(capacity: 4, name: "another")])
      return true
    } catch ImageCacheError.storageUnavailable {
      return false
    }
  }

  // MARK: The limits

  private var ballast: String { path + "/ballast" }

  private func constrain() async throws {
    switch limit {
    case .descriptors:
      let lowest = dup(0)
      close(lowest)
      try set(RLIMIT_NOFILE, rlim_t(lowest))
    case .addressSpace:
      // Less than the table's file, and enough for threads, each of which may take 72 MB for its
      // stack and its part of the heap: the system's queues wait for ever for a thread that cannot
      // be made.
      try set(RLIMIT_AS, rlim_t(ProcessFigures.now().addressSpaceByteCount + 768 << 20))
    case .fileSize:
      signal(SIGXFSZ, SIG_IGN)
      try set(RLIMIT_FSIZE, 96 << 10)
    case .disk:
      let file = open(ballast, O_WRONLY | O_CREAT, 0o600)
      let page = [UInt8](repeating: 0, count: 4096)
      while write(file, page, page.count) > 0 {}
      close(file)
    }
  }

  private func relax() throws {
    switch limit {
    case .descriptors: try set(RLIMIT_NOFILE, nil)
    case .addressSpace: try set(RLIMIT_AS, nil)
    case .fileSize: try set(RLIMIT_FSIZE, nil)
    case .disk: unlink(ballast)
    }
  }

  private func set(_ resource: LimitedResource, _ value: rlim_t?) throws {
    guard LimitedResources.set(resource, value) else {
      throw CommandFailure("A limit cannot be set: \(String(cString: strerror(errno))).")
    }
  }
}
