#if !canImport(Darwin)
  import Foundation
  import TestSupport
  import Testing

  @testable import FastImageCache

  @Suite("A compressed body", .timeLimit(.minutes(10)))
  struct InflaterTests {
    private static let text = Data("a picture's bytes, a picture's bytes".utf8)
    /// ``text`` as other programs compress it: by gzip, twice so, and in the two forms of `deflate`.
    private static let bodies: [(coding: String, body: String)] = [
      ("gzip", "H4sIAAAAAAACA0tUKMhMLiktSlUvVkiqLEkt1lFIRBcCADECEWckAAAA"),
      ("x-gzip", "H4sIAAAAAAACA0tUKMhMLiktSlUvVkiqLEkt1lFIRBcCADECEWckAAAA"),
      (
        "gzip, GZIP",
        "H4sIAAAAAAACA5Pv5mAAASZm7xCNEz56mrpeofphHqt0PHWvBXq4iDMxGDIJpqsAVQAAka7suSoAAAA="
      ),
      ("aws-chunked, gzip", "H4sIAAAAAAACA0tUKMhMLiktSlUvVkiqLEkt1lFIRBcCADECEWckAAAA"),
      ("deflate", "eNpLVCjITC4pLUpVL1ZIqixJLdZRSEQXAgDuJg0J"),
      ("deflate", "S1QoyEwuKS1KVS9WSKosSS3WUUhEFwIA"),
    ]

    private func reply(_ coding: String, _ pieces: [Data]) -> HTTPReply {
      var reply = HTTPReply.chunked(pieces.map { .bytes($0) })
      let fields = ["Transfer-Encoding": "chunked", "Content-Encoding": coding]
      reply.steps[0] = .bytes(HTTPReply.head(200, fields))
      return reply
    }

    @Test("comes out as it went in, in pieces of any size", arguments: 0..<6, [1, 2, 7, 100])
    func comesOut(_ index: Int, _ size: Int) async throws {
      let (coding, text) = Self.bodies[index]
      let body = try #require(Data(base64Encoded: text))
      let pieces = stride(from: 0, to: body.count, by: size).map { body[$0...].prefix(size) }
      let server = try HTTPServer(["/a": reply(coding, pieces.map { Data($0) })])
      #expect(try await bytes(server.url("/a")) == Self.text)
    }

    @Test("is not whole where its data end early, although its chunks do not", arguments: 0..<6)
    func endsEarly(_ index: Int) async throws {
      let (coding, text) = Self.bodies[index]
      let body = try #require(Data(base64Encoded: text))
      let server = try HTTPServer { request in
        reply(coding, [Data(body.prefix(Int(request.path.dropFirst()) ?? 0))])
      }
      for count in 1..<body.count {
        await #expect(throws: ImageSourceError.self, "\(count) bytes") {
          try await bytes(server.url("/\(count)"))
        }
      }
    }

    @Test("may have several members, each of which has to be whole", arguments: [1, 2, 7, 200])
    func hasMembers(_ size: Int) async throws {
      let member = try #require(Data(base64Encoded: Self.bodies[0].body))
      let server = try HTTPServer { request in
        let body = member + member + member.prefix(Int(request.path.dropFirst()) ?? 0)
        let pieces = stride(from: 0, to: body.count, by: size).map { body[$0...].prefix(size) }
        return reply("gzip", pieces.map { Data($0) })
      }
      // One byte is no beginning of another member.
      for count in [0, 1] {
        #expect(try await bytes(server.url("/\(count)")) == Self.text + Self.text)
      }
      #expect(
        try await bytes(server.url("/\(member.count)")) == Self.text + Self.text + Self.text)
      for count in [2, 10, 30, member.count - 1] {
        await #expect(throws: ImageSourceError.self, "\(count) bytes") {
          try await bytes(server.url("/\(count)"))
        }
      }
    }

    @Test(
      "is an error that names the coding where it cannot be decoded",
      arguments: [("br", "br"), ("gzip, BR", "br"), ("zstd", "zstd"), ("x-zstd, gzip", "zstd")])
    func namesCoding(_ field: String, _ coding: String) async throws {
      let server = try HTTPServer(["/a": reply(field, [Self.text])])
      let error = ImageSourceError.network(
        "The body is compressed as \(coding), which was not asked for.")
      await #expect(throws: error) { try await bytes(server.url("/a")) }
    }

    @Test("of an error or a redirect need not be decoded", arguments: ["br", "gzip, gzip, gzip"])
    func isIgnored(_ coding: String) async throws {
      let fields = ["Content-Encoding": coding]
      let server = try HTTPServer([
        "/404": .status(404, headers: fields, body: Self.text),
        "/302": .status(
          302, headers: fields.merging(["Location": "/a"]) { $1 }, body: Self.text),
        "/a": .ok(Self.text),
      ])
      await #expect(throws: ImageSourceError.httpStatus(404)) {
        try await bytes(server.url("/404"))
      }
      #expect(try await bytes(server.url("/302")) == Self.text)
    }

    @Test("may be followed by other bytes, and may have none at all")
    func mayEnd() async throws {
      let body = try #require(Data(base64Encoded: Self.bodies[0].body))
      let server = try HTTPServer([
        "/more": reply("gzip", [body + Data("more".utf8), Data("and more".utf8)]),
        "/none": .ok(Data(), headers: ["Content-Encoding": "gzip"]),
      ])
      #expect(try await bytes(server.url("/more")) == Self.text)
      #expect(try await bytes(server.url("/none")) == Data())
    }

    @Test("is an error where it is damaged, and is asked for again")
    func damaged() async throws {
      let body = try #require(Data(base64Encoded: Self.bodies[0].body))
      var damaged = body
      // In the checksum.
      damaged[body.count - 6] ^= 1
      let server = try HTTPServer(
        scripts: [
          "/a": [reply("gzip", [damaged]), reply("gzip", [Self.text]), reply("gzip", [body])]
        ])
      #expect(
        try await bytes(server.url("/a"), from: URLImageSource(http: .retrying(2))) == Self.text)
      #expect(server.requests.value == 3)
    }

    @Test("is an error where it is compressed three times")
    func thrice() async throws {
      let server = try HTTPServer(["/a": reply("gzip, gzip, gzip", [Self.text])])
      await #expect(throws: ImageSourceError.network("The body is compressed 3 times.")) {
        try await bytes(server.url("/a"))
      }
    }
  }
#endif
