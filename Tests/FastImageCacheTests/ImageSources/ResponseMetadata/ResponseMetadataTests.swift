import Foundation
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("An original's terms", .timeLimit(.minutes(10)))
struct ResponseMetadataTests {
  private func terms(_ fields: [String: String]) -> ResponseMetadata {
    ResponseMetadata(fields: fields, received: Date(timeIntervalSince1970: 784_112_000.75))
  }

  private let changed = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test("are read from a head, whatever the case of its names")
  func reading() {
    let terms = terms([
      "ETAG": #""x""#, "Last-Modified": changed, "content-length": " 12 ", "Date": changed,
      "Age": "3", "Expires": changed, "Cache-Control": "max-age=4", "Vary": "Accept",
    ])
    #expect(terms.entityTag == #""x""# && terms.lastModified == changed && terms.byteCount == 12)
    #expect(terms.date?.seconds == 784_111_777 && terms.expires == terms.date && terms.age == 3)
    #expect(terms.cacheControl?.maxAge == 4 && terms.vary?.names == ["accept"])
    #expect(terms.received == Date(timeIntervalSince1970: 784_112_000))
    #expect(self.terms(["vary": "a", "Vary": "b"]).vary?.names == ["a", "b"])
  }

  @Test("know the length of the whole, or none")
  func byteCount() {
    #expect(terms(["Content-Length": "5, 5"]).byteCount == 5)
    #expect(terms(["Content-Length": "2", "Content-Range": "bytes 3-4/9"]).byteCount == 9)
    #expect(terms(["Content-Length": "5", "Content-Encoding": "Identity"]).byteCount == 5)
    for fields in [
      [:], ["Content-Length": "5, 6"], ["Content-Length": "-5"], ["Content-Length": "5 bytes"],
      ["Content-Length": "9223372036854775808"],
      ["Content-Length": "2", "Content-Range": "bytes 3-4/*"],
      ["Content-Length": "2", "Content-Range": "bytes"],
      ["Content-Length": "5", "Content-Encoding": "gzip"],
    ] {
      #expect(terms(fields).byteCount == nil, "\(fields)")
    }
  }

  @Test("resume by a strong tag, or by a date a minute old where there is no tag")
  func strongValidator() {
    let minuteLater = "Sun, 06 Nov 1994 08:50:37 GMT"
    #expect(terms(["ETag": #""x""#]).strongValidator == #""x""#)
    #expect(
      terms(["Last-Modified": changed, "Date": minuteLater]).strongValidator == changed)
    // Two tags are none; one of 64 KiB counts as missing.
    for tag in [#""a", "b""#, "\"\(String(repeating: "a", count: 1 << 16))\""] {
      let terms = terms(["ETag": tag, "Last-Modified": changed, "Date": minuteLater])
      #expect(terms.entityTag == nil && terms.strongValidator == changed)
    }
    // Without quotes it is none of the standard's, and proves nothing.
    let unquoted = terms(["ETag": "x", "Last-Modified": changed, "Date": minuteLater])
    #expect(unquoted.entityTag == "x" && unquoted.strongValidator == changed)
    for fields in [
      [:], ["ETag": #"W/"x""#], ["ETag": "x"],
      ["ETag": #"W/"x""#, "Last-Modified": changed, "Date": minuteLater],
      ["Last-Modified": changed], ["Last-Modified": "yesterday", "Date": minuteLater],
      ["Last-Modified": changed, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"],
      ["Last-Modified": minuteLater, "Date": changed],
    ] {
      #expect(terms(fields).strongValidator == nil, "\(fields)")
    }
  }

  @Test("let a download be continued by length and validator, if bytes are bytes")
  func continuing() {
    let fields = ["ETag": #""x""#, "Content-Length": "5", "Cache-Control": "no-store"]
    #expect(terms(fields).mayBeContinued)
    #expect(terms(fields.merging(["Accept-Ranges": "bytes"]) { $1 }).mayBeContinued)
    for change in [
      ["Accept-Ranges": "None"], ["Content-Encoding": "gzip"], ["ETag": #"W/"x""#],
      ["Content-Length": "?"], ["Content-Encoding": String(repeating: " ,", count: 600)],
    ] {
      #expect(!terms(fields.merging(change) { $1 }).mayBeContinued, "\(change)")
    }
  }

  @Test("forbid keeping by no-store and by Vary: *, and by such fields above 1 KiB")
  func keeping() {
    #expect(terms([:]).mayBeKept && terms(["Cache-Control": "no-cache"]).mayBeKept)
    let long = String(repeating: "a,", count: 512)
    #expect(terms(["Cache-Control": long, "Vary": long]).mayBeKept)
    for fields in [
      ["Cache-Control": "no-store"], ["Vary": "*"], ["Cache-Control": long + "a"],
      ["Vary": long + "a"],
    ] {
      #expect(!terms(fields).mayBeKept, "\(fields)")
    }
  }

  @Test("answer requests whose varying fields are those of the first one")
  func varying() {
    var terms = terms(["Vary": "Accept"])
    #expect(terms.mayAnswerRequest([:]) && !terms.mayAnswerRequest(["accept": "image/webp"]))
    terms.recordRequest(["Accept": "image/webp"])
    #expect(!terms.mayAnswerRequest([:]))
    #expect(terms.mayAnswerRequest(["accept": "image/webp", "X": "1"]))
    #expect(self.terms([:]).mayAnswerRequest(["accept": "image/webp"]))
    #expect(!self.terms(["Vary": "*"]).mayAnswerRequest([:]))
  }

  @Test("answer the account that they answered first, everybody where that had no credentials")
  func accounts() {
    let (alice, bob) = (["Authorization": "a"], ["Authorization": "b"])
    var terms = terms(["ETag": "x"])
    terms.recordRequest(["authorization": "a", "X": "1"])
    #expect(terms.mayAnswerRequest(alice))
    for other in [bob, [:], ["Authorization": "a", "Cookie": "c"]] {
      #expect(!terms.mayAnswerRequest(other) && terms.mayBeConfirmed(to: other))
    }
    terms.recordRequest([:])
    #expect(terms.mayAnswerRequest(alice) && terms.mayAnswerRequest([:]))
    terms.recordRequest(["Cookie": "a"])
    #expect(!terms.mayAnswerRequest(["Cookie": "b"]) && !terms.mayAnswerRequest([:]))
    // A date may be older than the answers to both.
    terms.entityTag = nil
    #expect(!terms.mayBeConfirmed(to: bob) && terms.mayBeConfirmed(to: ["Cookie": "a"]))
  }

  @Test("answer all accounts where their server says public, and heed Vary all the same")
  func publicAnswers() {
    var terms = terms(["Cache-Control": "public", "Vary": "Accept"])
    terms.recordRequest(["Authorization": "a", "Accept": "1"])
    #expect(terms.mayAnswerRequest(["Authorization": "b", "Accept": "1"]))
    #expect(terms.mayAnswerRequest(["Accept": "1"]))
    #expect(!terms.mayAnswerRequest(["Authorization": "a", "Accept": "2"]))
  }

  @Test("take what a 304 says, and keep what the bytes are")
  func confirming() {
    let old = terms([
      "ETag": #""x""#, "Last-Modified": changed, "Content-Length": "9", "Date": changed,
      "Age": "100", "Cache-Control": "max-age=1", "Expires": changed, "Vary": "Accept",
    ])
    let newer = ResponseMetadata(
      fields: [
        "ETag": #"W/"x""#, "Content-Length": "0", "Content-Encoding": "gzip",
        "Cache-Control": "no-cache", "Vary": "Cookie",
      ], received: Date(timeIntervalSince1970: 784_200_000))
    let merged = old.confirmed(by: newer)
    #expect(merged.byteCount == 9 && !merged.hasContentCoding)
    #expect(merged.entityTag == #"W/"x""# && merged.lastModified == changed)
    #expect(merged.cacheControl == CacheControl("no-cache") && merged.expires == old.expires)
    #expect(merged.vary == Vary("Cookie") && merged.requestDigest == newer.requestDigest)
    var asked = newer
    asked.recordRequest(["Authorization": "b"])
    #expect(old.confirmed(by: asked).requestDigest == asked.requestDigest)
    #expect(merged.received == newer.received && merged.date == nil && merged.age == nil)

    let silent = old.confirmed(by: ResponseMetadata(fields: [:], received: newer.received))
    #expect(silent.entityTag == old.entityTag && silent.cacheControl == old.cacheControl)
    #expect(silent.vary == old.vary && silent.requestDigest == old.requestDigest)
  }
}

@Suite("The bytes of an original's terms", .timeLimit(.minutes(10)))
struct TermsEncodingTests {
  private func terms(_ fields: [String: String]) -> ResponseMetadata {
    ResponseMetadata(fields: fields, received: Date(timeIntervalSince1970: 784_112_000))
  }

  private let everything = [
    "ETag": #"W/"é""#, "Last-Modified": "Sunday, 06-Nov-94 08:49:37 GMT", "Content-Length": "12",
    "Date": "Sun Nov  6 08:49:37 1994", "Age": "3", "Expires": "0", "Vary": "b, a",
    "Cache-Control":
      "max-age=4, stale-while-revalidate=9, stale-if-error=8, no-cache, no-store, must-revalidate, public",
    "Accept-Ranges": "none",
  ]

  @Test("bring back each field by itself, all and none")
  func roundTrip() {
    var heads = everything.map { [$0.key: $0.value] }
    heads += [everything, [:], ["Vary": "*"], ["Vary": ""], ["Cache-Control": "private"]]
    heads += [["Content-Encoding": "gzip"], ["ETag": "x"], ["Last-Modified": "yesterday"]]
    for (fields, request) in heads.flatMap({ [($0, ["A": "1"]), ($0, ["Cookie": "1"])] }) {
      var terms = terms(fields)
      terms.recordRequest(request)
      terms.origin = fields["Vary"] == nil ? nil : "https://example.com:443"
      #expect(ResponseMetadata(encoded: terms.encoded()) == terms, "\(fields)")
    }
  }

  @Test("stay as they are from version to version")
  func stability() {
    let fields = ["ETag": #""x""#, "Content-Length": "258", "Cache-Control": "max-age=4"]
    let text = "3\n784112000\n258\n\n\n\n\"x\"\n\n\nmax-age=4,\n\n\n\nfalse\nfalse"
    #expect(terms(fields).encoded() == Array(text.utf8))
  }

  @Test("are nothing when one is missing, one too many, or one changed to what no terms have")
  func damage() {
    let bytes = terms(everything).encoded()
    for count in 0..<bytes.count {
      #expect(ResponseMetadata(encoded: Array(bytes[..<count])) == nil, "\(count) bytes")
    }
    #expect(ResponseMetadata(encoded: bytes + [0]) == nil)
    #expect(ResponseMetadata(encoded: [1] + bytes.dropFirst()) == nil)
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << bit
        // Where the change makes other terms, it is these and no third ones that come back.
        if let terms = ResponseMetadata(encoded: changed) { #expect(terms.encoded() == changed) }
      }
    }
  }

  @Test("are at most 4096 and leave out what no server sends")
  func bounds() {
    var terms = terms(everything)
    let long = String(repeating: "a", count: 1022)
    terms.entityTag = "\"\(long)\""
    terms.vary = Vary(long)
    terms.recordRequest(["Cookie": "1"])
    terms.origin = long + "aa"
    #expect(ResponseMetadata(encoded: terms.encoded())?.entityTag == terms.entityTag)
    #expect(terms.encoded().count <= 4096)
    #expect(ResponseMetadata(encoded: terms.encoded())?.origin == terms.origin)
    (terms.entityTag, terms.lastModified, terms.byteCount) = ("\"a\(long)\"", long, -1)
    terms.origin = long + "aaa"
    let read = ResponseMetadata(encoded: terms.encoded())
    #expect(
      read != nil && read?.entityTag == nil && read?.lastModified == nil && read?.origin == nil)
  }
}
