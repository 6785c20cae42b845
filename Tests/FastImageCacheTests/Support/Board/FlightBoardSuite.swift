import Foundation

@testable import FastImageCache

/// Tests of a board whose waiters are numbers, with one entity in two formats.
protocol FlightBoardSuite {
  var board: FlightBoard<Int, ImageKey, FlightID> { get set }
}

extension FlightBoardSuite {
  var url: FlightOrigin { .url(URL(fileURLWithPath: "/photo.jpg")) }
  var row: ImageKey { ImageKey(entity: "a", version: "a1", format: "row") }
  var dot: ImageKey { ImageKey(entity: "a", version: "a1", format: "dot") }

  mutating func join(
    _ number: Int, _ key: ImageKey, priority: Priority = .medium,
    versions: [String: ImageID] = ["row": "a1", "dot": "a1"],
    policy: LoadOptions.CachePolicy = .useCache, after asker: FlightID? = nil,
    origin: FlightOrigin? = nil
  ) -> FlightBoard<Int, ImageKey, FlightID>.Joined {
    board.join(
      WaiterID(number: number), key: key, origin: origin ?? url, priority: priority,
      versions: versions.map { ImageKey(entity: "a", version: $1, format: $0) },
      policy: policy, after: asker?.number ?? -1, request: key, start: { $0 },
      waiter: { _ in number })
  }

  mutating func finish(
    _ key: ImageKey, of flight: FlightID, isFetched: Bool = true
  ) -> [Int] {
    board.finish(key, of: flight, isFetched: isFetched)
  }
}
