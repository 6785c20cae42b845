import FastImageCache
import Foundation
import Locking
import TestSupport

extension Step {
  /// What a source says to web servers, and how long it waits for them.
  static let connections: [Step] = [
    Step(
      "http requests",
      [
        "HTTPOptions.init()", "HTTPOptions.userAgent", "HTTPOptions.modifyRequest",
        "HTTPOptions.connectionsPerHost", "HTTPRequest.headers", "HTTPRequest.url",
        "HTTPRequest.init(url:headers:)", "URLImageSource.init(http:)",
      ], need: .cache
    ) { turn in
      let server = try HTTPServer { .ok(Data($0.path.utf8)) }
      var options = HTTPOptions()
      options.userAgent = "player \(turn.number)"
      options.connectionsPerHost = 1 + turn.roll(2)
      let isWhole = turn.chance(1, in: 2)
      options.modifyRequest = { request in
        let url = request.url.appending(path: "changed")
        var changed = isWhole ? HTTPRequest(url: url, headers: request.headers) : request
        (changed.url, changed.headers["X-Step"]) = (url, "\(turn.number)")
        return changed
      }
      let source = URLImageSource(http: options)
      let answers = try await turn.call("six requests of one host") {
        try await withThrowingTaskGroup(of: Data?.self) { group in
          for index in 0..<6 {
            group.addTask {
              try await source.response(to: ImageSourceRequest(url: server.url("/\(index)")))
                .encodedData
            }
          }
          return try await group.reduce(into: Set<Data?>()) { $0.insert($1) }
        }
      }
      turn.expect(
        answers == Set((0..<6).map { Data("/\($0)/changed".utf8) }), "\(answers.count) answers")
      let heads = server.arrivedRequests.map(\.headers)
      turn.expect(heads.allSatisfy { $0["user-agent"] == options.userAgent }, "\(heads)")
      turn.expect(heads.allSatisfy { $0["x-step"] == "\(turn.number)" }, "\(heads)")
      turn.expect(
        server.mostConcurrentReplies <= options.connectionsPerHost
          && server.connections.value <= options.connectionsPerHost, .wrongCount,
        "\(server.connections.value) connections of \(options.connectionsPerHost)")
    },

    Step(
      "http limits",
      [
        "HTTPOptions.redirectLimit", "HTTPOptions.retry", "HTTPOptions.idleTimeout",
        "HTTPOptions.totalTimeout", "RetryPolicy.init(limit:)", "RetryPolicy.limit",
        "RetryPolicy.firstDelay", "RetryPolicy.largestDelay",
      ], need: .cache
    ) { turn in
      let gate = Gate()
      let server = try HTTPServer { request in
        switch request.path {
        case "/silent": HTTPReply([.wait(gate)])
        case "/busy": .status(503)
        default: .redirect(to: request.path + "/")
        }
      }
      defer { gate.open() }
      var options = HTTPOptions()
      options.redirectLimit = turn.roll(4)
      options.retry = RetryPolicy(limit: 3)
      options.retry.limit = turn.roll(3)
      (options.retry.firstDelay, options.retry.largestDelay) = (.zero, .zero)
      let error = await turn.failure(server.url("/a"), options)
      turn.expect(
        error == .tooManyRedirects(limit: options.redirectLimit), "\(String(describing: error))")
      turn.expect(
        server.requests.value == options.redirectLimit + 1, .wrongCount, "\(server.requests.value)")
      let busy = await turn.failure(server.url("/busy"), options)
      turn.expect(busy == .httpStatus(503), "\(String(describing: busy))")
      let count = server.arrivedRequests(for: "/busy").count
      turn.expect(count == options.retry.limit + 1, .wrongCount, "\(count) requests, \(options)")
      options.retry = .never
      options.idleTimeout = .milliseconds(20 + turn.roll(20))
      let silent = await turn.failure(server.url("/silent"), options)
      turn.expect(
        silent == .timedOut(after: options.idleTimeout), "\(String(describing: silent))")
      (options.idleTimeout, options.totalTimeout) = (.seconds(5), options.idleTimeout)
      let late = await turn.failure(server.url("/silent"), options)
      turn.expect(
        late == options.totalTimeout.map { .timedOut(after: $0) }, "\(String(describing: late))")
    },

    Step(
      "resumed download", ["HTTPOptions.resumes"], need: .cache
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: turn.number % 1_000)
      let file = try turn.world.files.data(of: mark, .png)
      let half = file.count / 2
      let server = try HTTPServer { request in
        if request.number == 1 {
          return HTTPReply.ok(file, headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes"])
            .inserting(.cut, after: half)
        }
        guard request.headers["range"] != nil else { return .ok(file) }
        return .status(
          206,
          headers: [
            "ETag": "\"1\"", "Content-Range": "bytes \(half)-\(file.count - 1)/\(file.count)",
          ],
          body: file.dropFirst(half))
      }
      var options = HTTPOptions.played(
        resumes: turn.chance(1, in: 2), patience: turn.world.sourcePatience)
      options.retry.limit = 2
      let response = try await turn.call("a download in two parts") {
        try await URLImageSource(http: options)
          .response(to: ImageSourceRequest(url: server.url("/a")))
      }
      turn.expect(response.mark == mark, .wrongPicture, "\(mark) in two parts")
      let ranges = server.arrivedRequests.map { $0.headers["range"] }
      turn.expect(
        ranges == [nil, options.resumes ? "bytes=\(half)-" : nil], .wrongCount, "\(ranges)")
    },

    Step(
      "ways to servers",
      [
        "HTTPOptions.proxy", "HTTPOptions.allowsInsecureHTTP", "HTTPOptions.certificateFile",
        "HTTPOptions.serverTrust",
      ], need: .cache
    ) { turn in
      // No one has this name: RFC 6761 section 6.4.
      let address = "http://pictures.invalid/\(turn.number)"
      let proxy = try HTTPServer { .ok(Data($0.path.utf8)) }
      guard let url = URL(string: address),
        let encrypted = URL(string: "https://127.0.0.1:\(proxy.port)/")
      else { return turn.nothing() }
      var options = HTTPOptions()
      options.retry = .never
      options.proxy = proxy.url("")
      let refused = await turn.failure(url, options)
      turn.expect(refused == .insecureHTTPRefused(url), "\(String(describing: refused))")
      options.allowsInsecureHTTP = true
      let answer = try await turn.call("a request by a proxy") {
        try await URLImageSource(http: options).response(to: ImageSourceRequest(url: url))
      }
      turn.expect(answer.encodedData == Data(address.utf8), "another address than \(address)")
      options.certificateFile = turn.world.folder.appending(path: "no certificates.pem")
      let untrusted = await turn.failure(encrypted, options)
      turn.expect(
        "\(String(describing: untrusted))".contains("no certificates.pem"),
        "\(String(describing: untrusted))")
      options.serverTrust = .pinned([])
      let unpinned = await turn.failure(encrypted, options)
      turn.expect(
        "\(String(describing: unpinned))".contains("serverTrust"), "\(String(describing: unpinned))"
      )
    },
  ]
}

extension Turn {
  /// The error of a request that has no answer.
  fileprivate func failure(_ url: URL, _ options: HTTPOptions) async -> ImageSourceError? {
    do {
      _ = try await call("a request that fails") {
        try await URLImageSource(http: options).response(to: ImageSourceRequest(url: url))
      }
      return nil
    } catch { return error as? ImageSourceError }
  }
}
