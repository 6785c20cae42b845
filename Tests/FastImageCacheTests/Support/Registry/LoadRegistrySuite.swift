import Foundation

@testable import FastImageCache

/// Tests of a registry whose subscribers are numbers, with one entity in two formats.
protocol LoadRegistrySuite {
  var registry: LoadRegistry<Int, ImageKey, LoadID> { get set }
}

extension LoadRegistrySuite {
  var url: LoadKey { .url(URL(fileURLWithPath: "/photo.jpg")) }
  var row: ImageKey { ImageKey(entity: "a", version: "a1", format: "row") }
  var dot: ImageKey { ImageKey(entity: "a", version: "a1", format: "dot") }

  mutating func join(
    _ number: Int, _ key: ImageKey, priority: Priority = .medium,
    versions: [String: ImageID] = ["row": "a1", "dot": "a1"],
    policy: LoadOptions.CachePolicy = .useCache, storage: LoadOptions.Storage = .all,
    after asker: LoadID? = nil,
    loadKey: LoadKey? = nil
  ) -> LoadRegistry<Int, ImageKey, LoadID>.Joined {
    registry.join(
      SubscriberID(number: number), key: key, loadKey: loadKey ?? url, priority: priority,
      versions: versions.map { ImageKey(entity: "a", version: $1, format: $0) },
      policy: policy, storage: storage, after: asker?.number ?? -1, request: key, start: { $0 },
      subscriber: { _ in number })
  }

  mutating func finish(
    _ key: ImageKey, of load: LoadID, isFetched: Bool = true
  ) -> [Int] {
    registry.finish(key, of: load, isFetched: isFetched)
  }
}
