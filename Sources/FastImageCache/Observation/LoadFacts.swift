import ImageSources
import LoadQueue

/// The side that had an image when its request was answered.
enum AnswerSide: Hashable, Sendable, CaseIterable {
  case table
  case entity
  /// The load, from its source or from a kept original.
  case load
}

/// The facts of an answer that decide nothing but its report; of no meaning for an error.
struct AnswerFacts: Hashable, Sendable {
  let side: AnswerSide
  /// Whether the table keeps the image; private memory may hold a copy of it.
  let isStored: Bool

  static let table = AnswerFacts(side: .table, isStored: true)
}

/// The facts that decide the origin and the words of a report; pure.
struct LoadFacts: Hashable, Sendable {
  /// The part of them that all requests of a load share.
  struct Source: Hashable, Sendable {
    /// `nil` before bytes have arrived.
    var bytes: ByteOrigin?
    /// Whether the kept original that arrived was stale.
    var isStale = false
    var wasAsked = false
    /// Whether it was asked about a kept original.
    var knewOriginal = false
    var usedNetwork = false
    /// The status of its answer, as far as its form tells.
    var status: Int?

    /// Takes note of an answer.
    ///
    /// - Parameter need: The need whose limiter the load passed last.
    mutating func note(_ answer: ImageSourceResponse, need: LoadNeed?) {
      usedNetwork = need == .network
      status = answer.status
    }
  }

  var answer: AnswerFacts
  var source = Source()
  var policy = LoadOptions.CachePolicy.useCache
  /// Whether images of the format are kept on this device.
  var hasTable = true
  var isCoalesced = false

  var origin: LoadReport.Origin {
    switch (answer.side, source.bytes) {
    case (.table, _): .table
    case (.entity, _): .entity
    case (.load, .original?): .original(isStale: source.isStale)
    case (.load, .unchanged?): .revalidated
    case (.load, .resumed?): .resumed
    case (.load, .source?), (.load, nil): source.usedNetwork ? .network : .source
    }
  }

  /// `nil` where a table or a store answered by itself.
  var forwarding: LoadReport.Forwarding? {
    switch (answer.side, source.bytes) {
    case (.table, _): return nil
    case (.load, .original?) where !source.wasAsked: return nil
    case (.load, .resumed?): return .partial
    default: break
    }
    if policy != .useCache { return .request }
    if answer.side == .load, source.knewOriginal { return .stale }
    return hasTable ? .miss : .bypass
  }
}

extension ImageSourceResponse {
  /// The status of a web server's answer of this form; `nil` where a source says nothing of the kind.
  fileprivate var status: Int? {
    switch content {
    case .arrived(let arrival): arrival.isContinued ? 206 : 200
    case .unchanged: 304
    case .encoded, .bitmap: nil
    }
  }
}
