import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("A field Cache-Control", .timeLimit(.minutes(10)))
struct CacheControlTests {
  private func control(_ change: (inout CacheControl) -> Void) -> CacheControl {
    var control = CacheControl()
    change(&control)
    return control
  }

  @Test("has directives in any case, with arguments as tokens or in quotes")
  func directives() {
    #expect(CacheControl("MAX-AGE=60").maxAge == 60)
    #expect(CacheControl(#"max-age="60""#).maxAge == 60)
    #expect(CacheControl("private, Max-Age=5 , No-Cache").maxAge == 5)
    #expect(
      CacheControl("no-cache, no-store, must-revalidate")
        == control { ($0.noCache, $0.noStore, $0.mustRevalidate) = (true, true, true) })
    #expect(CacheControl("") == CacheControl() && CacheControl(",, ,") == CacheControl())
    #expect(CacheControl("s-maxage=9, proxy-revalidate, private") == CacheControl())
    #expect(CacheControl("Public") == control { $0.isPublic = true })
  }

  @Test("may allow stale answers for a while: RFC 5861")
  func staleWhileRevalidate() {
    let control = CacheControl("max-age=600, stale-while-revalidate=30")
    #expect(control.maxAge == 600 && control.staleWhileRevalidate == 30)
    #expect(CacheControl("stale-while-revalidate=x").staleWhileRevalidate == 0)
    #expect(CacheControl("max-age=600, stale-if-error=1200").staleIfError == 1200)
  }

  @Test("has directives behind semicolons, too, as some servers write them")
  func semicolons() {
    let expected = control { ($0.maxAge, $0.noStore) = (100, true) }
    for text in ["max-age=100; no-store", "max-age=100;no-store", ";no-store;;max-age=\"100\";"] {
      #expect(CacheControl(text) == expected, "\(text)")
    }
    #expect(CacheControl(#"a="x; no-store"; max-age=100"#) == control { $0.maxAge = 100 })
  }

  @Test("finds no directive inside a quoted string")
  func quotedStrings() {
    #expect(CacheControl(#"community="UCI, max-age=9", max-age=8"#).maxAge == 8)
    #expect(CacheControl(#"a="\", no-store", max-age=8"#) == control { $0.maxAge = 8 })
  }

  @Test(
    "with a quote that never closes forbids to keep, since the quote may hide that",
    arguments: [
      #"max-age=8, a="b, no-store"#, #"a="b\""#, #"max-age="8, no-store"#,
      #"must-understand, a="b, no-store"#,
    ])
  func unclosedQuote(_ text: String) {
    #expect(CacheControl(text).noStore)
  }

  @Test("with field names behind no-cache or private counts as it would without")
  func qualified() {
    #expect(CacheControl(#"no-cache="Set-Cookie, Age""#) == control { $0.noCache = true })
    #expect(CacheControl(#"private="Set-Cookie""#) == CacheControl())
  }

  @Test("means an age of nothing by what is no number")
  func invalidNumbers() {
    for text in ["max-age", "max-age=", "max-age=-1", "max-age=1.5", "max-age=1h", "max-age =1"] {
      #expect(CacheControl(text).maxAge == 0, "\(text)")
    }
  }

  @Test("takes 2147483648 for all larger numbers: RFC 9111 section 1.2.2")
  func largeNumbers() {
    #expect(CacheControl("max-age=2147483647").maxAge == 2_147_483_647)
    for text in ["2147483648", "2147483649", "4294967296", "99999999999999999999999"] {
      #expect(CacheControl("max-age=\(text)").maxAge == 2_147_483_648, "\(text)")
    }
  }

  @Test("counts the first of several: RFC 9111 section 4.2.1")
  func duplicates() {
    #expect(CacheControl("max-age=1, max-age=2").maxAge == 1)
    #expect(CacheControl("max-age=x, max-age=2").maxAge == 0)
  }

  @Test("with must-understand may be kept by a cache that does: RFC 9111 section 5.2.2.3")
  func mustUnderstand() {
    #expect(CacheControl("must-understand, no-store") == CacheControl())
    #expect(CacheControl("no-store, must-understand") == CacheControl())
  }
}
