import ImageSources

/// The freshness of a kept original.
enum Freshness: Hashable, Sendable {
  /// It answers.
  case fresh
  /// It answers, and is revalidated behind.
  case stale
  /// The server is asked first. Where no server can be reached, the original answers; where one fails, only
  /// if `answersFailures`.
  case expired(answersFailures: Bool)
  /// The server is asked first. When it fails, the original answers only if `answersFailures`.
  case mustRevalidate(answersFailures: Bool)
  /// It counts as not there.
  case gone
}

/// The freshness that an answer's terms give, as numbers for an index.
struct FreshnessFacts: Hashable, Sendable {
  /// The time of the answer, by this machine's clock, in seconds since 1970.
  var answered: Int64
  /// The seconds from ``answered`` on in which it is fresh.
  var freshFor: UInt32
  /// The seconds behind these in which it may be used while it is revalidated: RFC 5861 section 3.
  var staleWhileRevalidate: UInt32 = 0
  /// The seconds behind these in which it may be used when the server fails: RFC 5861 section 4.
  var staleIfError: UInt32 = 0
  /// Whether it may never be used stale.
  var mustRevalidate: Bool

  func isStricter(than former: Self) -> Bool {
    answered + Int64(freshFor) < former.answered + Int64(former.freshFor)
      || mustRevalidate && !former.mustRevalidate
  }
}

/// Decides how far originals may be believed: RFC 9111 section 4.2, as a private cache.
///
/// Two clocks that never mix: an original is *kept* for a while after its last use, and *fresh* for a
/// while after the server answered.
extension OriginalStore.Lifetime {
  /// A day, in seconds: an image that was replaced yesterday is shown no more.
  private static let staleTime: Int64 = 86_400

  /// Takes the terms of an answer; `nil` where they forbid to keep it.
  func facts(of terms: ResponseMetadata) -> FreshnessFacts? {
    guard terms.mayBeKept else { return nil }
    let received = HTTPDate(terms.received).seconds
    let control = respectsServer ? terms.cacheControl ?? CacheControl() : CacheControl()
    // Section 4.2.3. How long the answer was on its way is not known, and counts as nothing.
    let date = terms.date?.seconds ?? received
    let initialAge = respectsServer ? max(0, received - date, Int64(terms.age ?? 0)) : 0
    var lifetime = defaultFreshness.wholeSeconds
    // Section 4.2.1. `s-maxage` is for shared caches.
    if let maxAge = control.maxAge {
      lifetime = Int64(maxAge)
    } else if respectsServer, let expires = terms.expires {
      lifetime = max(0, expires.seconds - date)
    }
    let left = control.noCache ? 0 : lifetime - initialAge
    func grace(_ seconds: UInt32?) -> UInt32 { Self.limited(Int64(seconds ?? 0) + min(0, left)) }
    return FreshnessFacts(
      answered: received, freshFor: Self.limited(left),
      staleWhileRevalidate: grace(control.staleWhileRevalidate),
      staleIfError: grace(control.staleIfError),
      mustRevalidate: control.noCache || control.mustRevalidate)
  }

  /// Decides about an original.
  ///
  /// - Parameters:
  ///   - facts: What the server said, with every confirmation since.
  ///   - stored: When it was stored, by this machine's clock, in seconds since 1970.
  ///   - lastUse: When it was used last, likewise.
  ///   - now: This machine's clock, likewise.
  func freshness(
    of facts: FreshnessFacts, stored: Int64, lastUse: Int64, now: Int64
  ) -> Freshness {
    let kept = maximumAge.wholeSeconds
    // Numbers from a disk may be any; those of dates can be subtracted.
    let now = HTTPDate(clamping: now).seconds
    // A clock that was put back leaves moments in the future. They say nothing of the age.
    func age(since moment: Int64) -> Int64? {
      let age = now - HTTPDate(clamping: moment).seconds
      return age < 0 ? nil : age
    }
    let unused = min(age(since: stored) ?? .max, renewsOnUse ? age(since: lastUse) ?? .max : .max)
    if unused < .max, unused >= kept { return .gone }

    let age = now - HTTPDate(clamping: facts.answered).seconds
    // No server is believed for longer than an unused original is kept.
    let staleFor = age - min(Int64(facts.freshFor), kept)
    if age >= 0, staleFor < 0 { return .fresh }
    if facts.mustRevalidate { return .mustRevalidate(answersFailures: false) }
    let staleTime = max(Int64(facts.staleWhileRevalidate), servesStale ? Self.staleTime : 0)
    if age >= 0, staleFor < staleTime { return .stale }
    let answersFailures = age >= 0 && staleFor < Int64(facts.staleIfError)
    return servesStale
      ? .expired(answersFailures: answersFailures)
      : .mustRevalidate(answersFailures: answersFailures)
  }

  private static func limited(_ seconds: Int64) -> UInt32 {
    UInt32(min(max(0, seconds), Int64(CacheControl.largestSeconds)))
  }
}

extension Duration {
  /// The seconds without their fraction, at least none and at most ten thousand years.
  fileprivate var wholeSeconds: Int64 {
    min(max(0, components.seconds), HTTPDate.latest.seconds - HTTPDate.earliest.seconds)
  }
}
