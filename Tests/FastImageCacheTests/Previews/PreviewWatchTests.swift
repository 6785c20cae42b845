import Testing

@testable import FastImageCache

@Suite("A watch of previews", .timeLimit(.minutes(10)))
struct PreviewWatchTests {
  private let start = ContinuousClock.now

  /// Whether a preview is drawn of so many bytes, after a first look at some.
  private func draws(
    _ byteCount: Int, of total: Int? = 1000, at milliseconds: Int, lookedAfter first: Int = 0,
    seeing firstByteCount: Int = 0
  ) -> Bool {
    func after(_ milliseconds: Int) -> ContinuousClock.Instant {
      start.advanced(by: .milliseconds(milliseconds))
    }
    return !PreviewWatch.isDueSoon(
      total, byteCount, at: after(milliseconds), since: (firstByteCount, after(first)))
  }

  @Test("draws none where the rest is due in 200 milliseconds at the rate so far")
  func due() {
    // A byte each millisecond.
    #expect(draws(1000, of: 1201, at: 1000))
    #expect(!draws(1000, of: 1200, at: 1000))
    #expect(!draws(1000, of: 1000, at: 1000))
    // The rate is that of the bytes that were seen to come.
    #expect(draws(1000, of: 1200, at: 1000, lookedAfter: 800, seeing: 900))
    #expect(!draws(1000, of: 1100, at: 1000, lookedAfter: 800, seeing: 900))
  }

  @Test("knows no rate before bytes have come in some time, and no rest without a length")
  func unknown() {
    #expect(draws(900, at: 500, lookedAfter: 500, seeing: 900))
    #expect(draws(900, at: 900, lookedAfter: 500, seeing: 900))
    #expect(draws(950, at: 500, lookedAfter: 500, seeing: 900))
    #expect(draws(1000, of: nil, at: 1000))
  }
}
