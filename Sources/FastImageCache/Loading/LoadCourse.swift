import Foundation

/// The way of one load through its plan: what it has in hand, and what it has done.
///
/// One task at a time uses it.
final class LoadCourse {
  var plan: LoadPlan
  let options: LoadOptions
  /// The original; `nil` where nothing is kept.
  let query: OriginalQuery?
  /// The entity that named the original.
  let owner: OriginalOwner
  /// A removal of the original, from any cache, forbids through this to keep it.
  let original: OriginalLoad?
  /// Whether the device is locked, and the store's files with it. Nothing is kept then.
  var isLocked = false
  /// The kept original, for the source to be asked about.
  var known: KnownOriginal?
  /// The kept original, where it would answer a request like this one.
  var knownAnswer: KnownOriginal? {
    known.flatMap { $0.terms.mayAnswerRequest(options.headers) ? $0 : nil }
  }
  /// The arrival, once the source is asked, and the partial that it continues.
  var download: Download?
  /// Whether the source was asked: requests that join are told of a ring then.
  var hasAsked = false
  /// Whether pictures in tables answer: not before the source has said that they are unchanged, if it
  /// has to be asked.
  var tablesAnswer: Bool
  /// The original that the load has fetched.
  let held = HeldOriginal()

  var name: OriginalName? { query?.name }

  init(
    _ plan: LoadPlan, _ options: LoadOptions, of query: OriginalQuery?, for owner: OriginalOwner,
    _ original: OriginalLoad?, isLocked: Bool, tablesAnswer: Bool
  ) {
    (self.plan, self.options, self.query, self.owner) = (plan, options, query, owner)
    (self.original, self.isLocked, self.tablesAnswer) = (original, isLocked, tablesAnswer)
  }
}

/// A picture as a step of the plan brought it.
struct StepResult {
  enum Origin: Hashable, Sendable {
    /// Bytes of an earlier load. They are dropped if they turn out to be no picture.
    case kept
    case source
    /// The source's, which differ from those of earlier pictures.
    case changed
  }

  var picture: SourcePicture
  let origin: Origin
  /// For those who follow the load.
  let byteOrigin: ByteOrigin
  /// Whether the kept original was stale.
  var isStale = false
  /// How the store knows kept bytes again.
  var keptBody: UInt64?
  /// Whether some of the source's bytes are of an earlier answer. Then they are asked for once more if
  /// they turn out to be no picture.
  var isContinued = false
  /// The original for the store, once the picture is decoded.
  var original: (bytes: Data, terms: OriginalTerms)?
  /// What of it may be on disk.
  var download: OriginalDownload?
}

extension ImageLoader {
  /// Begins the course of a load, which requests of one identity share.
  func beginCourse(
    of flight: Flight, for request: ImageRequest, at url: URL
  ) async -> LoadCourse {
    var isLocked = false
    do throws(OriginalsLocked) { try await planner.originals?.prepare() } catch { isLocked = true }
    let query = planner.originals.map { _ in request.originalQuery(in: planner.namespace) }
    let owner = planner.owner(of: request)
    return LoadCourse(
      planner.plan(flight.policy, for: request, at: url, showsPlaceholder: flight.isPlaceholder),
      request.options ?? LoadOptions(), of: query, for: owner,
      query.flatMap { planner.originals?.begin($0.name, of: owner) }, isLocked: isLocked,
      tablesAnswer: flight.policy == .normal)
  }
}
