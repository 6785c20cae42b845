public import ImageSources
import Pixels

/// The cost of one request, and the way by which its image came.
///
/// ``ImageCache/load(_:format:options:)`` returns one, and ``CacheEvent/loaded(entity:format:_:)`` has one for
/// each request that missed.
///
/// The figures are those of the load, from its beginning to the answer of this request. Requests that share a
/// load are told the same work, so sums count only reports whose ``isCoalesced`` is false.
public struct LoadReport: Hashable, Sendable {
  /// The place that the image came from.
  @nonexhaustive public enum Origin: Hashable, Sendable {
    /// The table had it, or it was stored by hand while the request waited.
    case table
    /// The entity had an image of its own.
    case entity
    /// A source that needed no network.
    case source
    /// A store of originals; stale if only its server knows whether it is still the present one.
    case original(isStale: Bool)
    /// A store of originals, or the table, after the source had called the image unchanged.
    case revalidated
    /// A source, over a network.
    case network
    /// A source that sent the rest of a download that an earlier load had begun.
    case resumed
  }

  /// The place that the image came from.
  public let origin: Origin

  /// Whether the request shares a load that another one had begun: then the load's figures begin before the
  /// request, and its durations may be longer than ``totalDuration``.
  public let isCoalesced: Bool

  /// Whether the table has the image, from this load or an earlier one. Where it is full of leases, cannot be written,
  /// or does not exist on this device, the request has it alone.
  public let isStored: Bool

  /// Calls of the source, and repetitions that it told of; 0 where it was not asked.
  public let attemptCount: Int

  /// Encoded bytes that came in this load.
  public let fetchedByteCount: Int

  /// Encoded bytes that earlier loads had left, and that did not come again.
  public let resumedByteCount: Int

  /// Stages of its file of which the load has drawn previews, for whichever request.
  public let previewCount: Int

  /// Time at the limiters of ``LoadResources`` and before a worker was free.
  public let waitDuration: Duration

  /// Time in which the source was asked, with its waits for the host and before repetitions; in which the
  /// kept original was read; and in which the entity brought an image.
  public let fetchDuration: Duration

  /// The parts of ``fetchDuration`` that went to web servers, as far as their requests had ended; `nil` where none was
  /// asked.
  public let network: NetworkDurations?

  /// Time of the processor for decoding, without those of previews.
  public let decodeDuration: Duration

  /// Time of the processor for drawing, in all formats that were drawn before the answer.
  public let drawDuration: Duration

  /// Time for storing these images, with the waits for the tables' turns and for the disk.
  public let storeDuration: Duration

  /// Time from the call to the answer. The part that no other figure has went to tasks that waited for a
  /// core, and to ``ImageCache/Configuration/willStore``.
  public let totalDuration: Duration

  /// Time from the call to the load's first preview, zero if it was there before; `nil` without one.
  public let firstPreviewDuration: Duration?

  /// `nil` where the request was not forwarded.
  let forwarding: Forwarding?

  /// The status of the source's answer, as far as its form tells.
  let status: Int?

  /// The report in the words of RFC 9211: `fwd=partial; fwd-status=206; stored`.
  ///
  /// The parameters of a member of the field `Cache-Status`, without the name of a cache. A kept original that
  /// answers is a `hit`. `fwd` is `partial` for a resumed download, `request` where the policy asks the source
  /// whatever is there, `stale` where the source was asked about a kept original, `bypass` for a format that is
  /// not stored on this device, and else `uri-miss`. `fwd-status` is 200, 206 or 304, for a source that says
  /// whether its answer is whole, the rest, or none; not where it failed. `detail` names what is no web server.
  public var cacheStatus: String {
    var words: [String] = []
    if let forwarding {
      words.append("fwd=\(forwarding.rawValue)")
      if let status { words.append("fwd-status=\(status)") }
      if isStored { words.append("stored") }
      if isCoalesced { words.append("collapsed") }
    } else {
      words.append("hit")
    }
    if let detail = origin.detail { words.append("detail=\(detail)") }
    return words.joined(separator: "; ")
  }
}

extension LoadReport: CustomStringConvertible {
  /// ``cacheStatus`` and the time from the call to the answer: `fwd=uri-miss; stored, 34.5 ms`.
  public var description: String {
    "\(cacheStatus), \((totalDuration / .microseconds(100)).rounded() / 10) ms"
  }
}

extension LoadReport.Origin {
  fileprivate var detail: String? {
    switch self {
    case .entity: "entity"
    case .source: "source"
    case .original(isStale: false): "original"
    case .original(isStale: true): "stale-original"
    case .table, .revalidated, .network, .resumed: nil
    }
  }
}

extension LoadReport {
  /// The reason why a request was forwarded: RFC 9211 section 2.2.
  enum Forwarding: String, Hashable, Sendable {
    case miss = "uri-miss"
    case stale
    case partial
    case request
    case bypass
  }

  /// The report of a hit.
  init(ofHitAfter duration: Duration) {
    self.init(
      LoadFacts(answer: .table), LoadMeter(), total: duration,
      firstPreview: nil, previewCount: 0)
  }

  /// - Parameters:
  ///   - total: The time since the call.
  ///   - firstPreview: The time from the call to the first preview.
  init(
    _ facts: LoadFacts, _ meter: LoadMeter, total: Duration, firstPreview: Duration?,
    previewCount: Int
  ) {
    (origin, forwarding) = (facts.origin, facts.forwarding)
    (isCoalesced, isStored) = (facts.isCoalesced, facts.answer.isStored)
    status = facts.answer.side == .load ? facts.source.status : nil
    (attemptCount, fetchedByteCount) = (meter.attempts, meter.fetchedByteCount)
    if case .resumed(let count, _)? = facts.source.bytes {
      resumedByteCount = count
    } else {
      resumedByteCount = 0
    }
    self.previewCount = previewCount
    waitDuration = meter.wait
    fetchDuration = meter.fetch
    network = meter.network
    decodeDuration = meter.decode
    drawDuration = meter.draw
    storeDuration = meter.store
    totalDuration = total
    firstPreviewDuration = firstPreview.map { max(.zero, $0) }
  }
}
