import CommandSupport
import FastImageCache
import Foundation
import Pixels
import Testing

@Suite("Arguments", .timeLimit(.minutes(10)))
struct ArgumentsTests {
  let grammar = ArgumentGrammar(
    command: "imagecache test", summary: "Tests.",
    operands: [.init("DIR", help: "a folder"), .init("NAME", isRequired: false, help: "a name")],
    options: [
      .flag("--json", help: "json"), .value("--size", "WxH", help: "a size"),
      .value("--format", "F", isRepeatable: true, help: "a format"),
    ],
    discussion: "More.")

  private func problem(_ words: String...) -> String? {
    do throws(UsageError) {
      _ = try Arguments(words, grammar: grammar)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("are the URLs of their files where they are not UTF-8")
  func bytes() throws {
    func word(_ text: [UInt8]) -> String { CommandLine.word(text) }
    #expect(word(Array("--size=é \u{FEFF}".utf8)) == "--size=é \u{FEFF}")
    #expect(word(Array("/a b/".utf8) + [0xE9]) == "file:///a%20b/%E9")
    #expect(word(Array("--cache=/".utf8) + [0xFF]) == "--cache=file:///%FF")
    let relative = word([0xE9, 0x3D, 0x2F])
    #expect(relative.hasPrefix("file:///") && relative.hasSuffix("/%E9%3D/"))
    #expect(try LocalPath(argument: "file:///a%20b/%E9").bytes == Array("/a b/".utf8) + [0xE9])
    #expect(try LocalPath(argument: "/a%20b").bytes == Array("/a%20b".utf8))
    #expect(try URL(argument: "file:///a%20b").path == "/a b")
    #expect(throws: UsageError.self) { try URL(argument: "file:///%E9") }
  }

  @Test("take times as a number and a unit")
  func durations() throws {
    for (text, seconds) in [
      ("45s", 45), ("90m", 5400), ("2h", 7200), ("30d", 2_592_000), ("0w", 0),
    ] {
      let arguments = try Arguments(["d", "--size", text], grammar: grammar)
      #expect(try arguments.duration("--size") == .seconds(seconds))
    }
    #expect(try Arguments(["d"], grammar: grammar).duration("--size") == nil)
    for text in ["", "5", "d", "-1d", "1.5d", "1000001d", "5y", "5 d"] {
      let arguments = try Arguments(["d", "--size=\(text)"], grammar: grammar)
      #expect(throws: UsageError.self) { try arguments.duration("--size") }
    }
  }

  @Test("take numbers of bytes, with a letter for 1024 bytes and its powers")
  func byteCounts() throws {
    for (text, byteCount) in [
      ("0", 0), ("1234", 1234), ("3k", 3072), ("512M", 512 << 20), ("2G", 2 << 30), ("1t", 1 << 40),
    ] {
      let arguments = try Arguments(["d", "--size", text], grammar: grammar)
      #expect(try arguments.byteCount("--size") == byteCount)
    }
    #expect(try Arguments(["d"], grammar: grammar).byteCount("--size") == nil)
    for text in ["", "M", "1.5M", "-1", "1 M", "5MB", "9999999T", "99999999999999999999"] {
      let arguments = try Arguments(["d", "--size=\(text)"], grammar: grammar)
      #expect(throws: UsageError.self) { try arguments.byteCount("--size") }
    }
    let small = try Arguments(["d", "--size=3k"], grammar: grammar)
    #expect(throws: UsageError.self) { try small.byteCount("--size", from: 4096) }
  }

  @Test("can be patterns for whole texts")
  func patterns() {
    let cases: [(String, matching: [String], others: [String])] = [
      ("", [""], ["a"]), ("a", ["a"], ["", "A", "ab", "ba"]), ("*", ["", "abc"], []),
      ("?", ["a", "é", "*"], ["", "ab"]), ("a*c", ["ac", "abcbc"], ["a", "abcb", "bac"]),
      ("*a?b*", ["axb", "1aab2axb3"], ["ab", "ba"]), ("**a**", ["a", "xay"], ["", "b"]),
      ("a*b*c", ["abc", "aXbbYbc"], ["acb", "abd"]), ("e\u{301}", ["e\u{301}"], ["é"]),
    ]
    for (pattern, matching, others) in cases {
      for text in matching { #expect(GlobPattern(pattern).matches(text), "\(pattern) \(text)") }
      for text in others { #expect(!GlobPattern(pattern).matches(text), "\(pattern) \(text)") }
    }
  }

  @Test("are refused with a message that names the wrong value")
  func refusals() {
    #expect(problem("d", "--sise", "1x1")?.contains("\"--sise\"") == true)
    #expect(problem("d", "--size")?.contains("--size needs a value") == true)
    #expect(problem("d", "--size", "--json")?.contains("--size needs a value") == true)
    #expect(problem("d", "--json=1")?.contains("\"--json=1\"") == true)
    #expect(problem("d", "--size=1x1", "--size=2x2")?.contains("twice") == true)
    #expect(problem("d", "n", "surplus")?.contains("\"surplus\"") == true)
    #expect(problem()?.contains("needs DIR") == true)
    #expect(problem("d") == nil)
  }

  @Test(
    "read sizes of two positive sides only",
    arguments: ["", "5", "5x", "x5", "0x5", "5x0", "-1x5", "5x5x5", "5 x5", "40000x1", "5X5"])
  func badSize(text: String) {
    #expect(PixelSize(argument: text) == nil)
  }
}

@Suite("A format argument", .timeLimit(.minutes(10)))
struct FormatArgumentTests {
  @Test("takes every pixel format and every drawing")
  func all() throws {
    for pixelFormat in PixelFormat.allCases {
      for layout in FormatArgument.Layout.allCases {
        let format = try FormatArgument("a:1x2:\(pixelFormat.rawValue):\(layout.rawValue)")
        #expect(format.pixelFormat == pixelFormat)
        #expect(format.layout == layout)
        #expect(format.quality == .balanced)
      }
    }
    for decoding in [ImageFormat.Quality.balanced, .best] {
      let format = try FormatArgument("a:1x2:bgrx32:circle:\(decoding.rawValue)")
      #expect(format.quality == decoding && format.layout == .circle)
    }
    for colorSpace in ColorSpace.allCases {
      let format = try FormatArgument("a:1x2:bgra32:stretch:\(colorSpace.rawValue)")
      #expect(format.colorSpace == colorSpace && format.quality == .balanced)
    }
  }

  @Test("keeps first frames, or all of so many bytes, in any order")
  func animations() throws {
    #expect(try FormatArgument("a:1x2:bgra32:stretch:best").animationByteLimit == nil)
    #expect(try FormatArgument("a:1x2:bgra32:stretch:animated").animationByteLimit == 16 << 20)
    let short = try FormatArgument("a:1x2:animated")
    #expect(short.animationByteLimit == 16 << 20 && short.layout == .aspectFill)
    let others = try FormatArgument("a:1x2:within:displayP3")
    #expect(others.layout == .within && others.colorSpace == .displayP3)
    #expect(try FormatArgument("a:1x2:within:bgrx32") == FormatArgument("a:1x2:bgrx32:within"))
    let format = try FormatArgument("a:1x2:bgra32:stretch:best:animated=64M:displayP3")
    #expect(format.animationByteLimit == 64 << 20)
    #expect(format.quality == .best && format.colorSpace == .displayP3)
  }

  @Test(
    "is refused in words that name the bad part",
    arguments: [
      ("row", "row"), (":1x1", "name"), ("row:1", "\"1\""), ("row:1x1:rgb", "\"rgb\""),
      ("row:1x1:gray8:fill", "\"fill\""), ("row:1x1:gray8:stretch:x", "\"x\""),
      ("row:1x1:gray8:stretch:best:x", "\"x\""), ("row:1x1:gray8:stretch:sRGB:x", "\"x\""),
      ("row:1x1:gray8:stretch:best:balanced", "has \"balanced\""),
      ("row:1x1:gray8:stretch:sRGB:displayP3", "has \"displayP3\""),
      ("row:1x1:gray8:stretch:best:sRGB:x", "best:sRGB:x"),
      ("row:1x1:gray8:stretch:animated=", "\"animated=\""),
      ("row:1x1:gray8:stretch:animated:animated", "has \"animated\""),
      ("row:1x1:gray8:stretch:animate", "\"animate\""),
    ])
  func refusals(text: String, named: String) {
    let error = #expect(throws: UsageError.self) { try FormatArgument(text) }
    #expect(error?.description.contains(named) == true)
  }
}
