import CommandSupport
import FastImageCache
import Foundation

/// Many requests under conditions for one image that is not there.
struct ConditionedRequests: Scenario {
  static let id = "S14"
  static let name = "conditioned-requests"
  static let summary = """
    2000 tasks that ask for one photo at once under equal conditions: an account, a header field, networks \
    to avoid and a priority that all hold; from their creation until the last has it, for each of them. \
    Beside it the same without conditions
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = 2 * setting.effort.subscriberCount
    let size = PixelSize(width: 32, height: 32)
    let format = ImageFormat(
      name: "conditioned", size: .exact(size), pixelFormat: .bgrx32, capacity: .count(16))
    let source = WaitingSource(try setting.photographs.part(0, size: size))
    return try await setting.withCache(
      Self.name, formats: [format], .with { $0.source = source }
    ) { cache in
      var number = 0
      func contender(_ options: LoadOptions?) -> Contest.Contender {
        Contest.Contender {
          number += 1
          let image = BenchImage(number, file: URL(filePath: "/picture-\(number)"))
          return try await JoinedRequests.time(count, cache, image, format, source, options)
            / Double(count)
        }
      }
      let results = try await Contest([contender(Self.options), contender(nil)])
        .run(roundCount: min(setting.effort.roundCount, 51))
      let askedBefore = source.askedCount
      _ = try await contender(Self.options).turn()
      return Findings([
        Measure(
          Self.id, "\(count) requests under conditions for one image, each", ours: results[0],
          reference: results[1], named: "without conditions", bar: .ratioAtMost(1.1)),
        .counted(Self.id, "fetches", source.askedCount - askedBefore, mustBe: 1),
      ])
    }
  }

  private static let options: LoadOptions = {
    var options = LoadOptions()
    options.account = AccountID("account")
    options.headers = ["Accept-Language": "en"]
    options.allowsExpensiveNetworkAccess = false
    options.priority = RequestPriority(.medium)
    return options
  }()
}
