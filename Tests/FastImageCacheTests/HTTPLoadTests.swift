import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("An HTTP load", .timeLimit(.minutes(15)))
struct HTTPLoadTests {
  @Test("ends at once when its task is cancelled, and drops the connection")
  func cancelled() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try HTTPServer([
      "/a": .lying(contentLength: 100, [.bytes(Data(count: 50)), .wait(gate)])
    ])
    let arrived = Counter()
    let task = Task {
      try await bytes(server.url("/a")) { if $0.receivedByteCount == 50 { arrived.increment() } }
    }
    await arrived.reaches(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await server.abandonments.reaches(1)
  }

  @Test("ends when it is cancelled before the server answers")
  func cancelledBeforeTheAnswer() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try HTTPServer(["/a": HTTPReply([.wait(gate)])])
    let task = Task { try await bytes(server.url("/a")) }
    await server.requests.reaches(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await server.abandonments.reaches(1)
  }

  @Test("asks for nothing when its task is cancelled already")
  func cancelledBeforehand() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8)), "/b": .ok(Data("b".utf8))])
    let source = URLImageSource(http: .patient)
    let gate = Gate()
    let task = Task {
      await gate.pass()
      return try await bytes(server.url("/a"), from: source)
    }
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await bytes(server.url("/b"), from: source) == Data("b".utf8))
    #expect(server.arrivedRequests.map(\.path) == ["/b"])
  }

  @Test("ends cleanly wherever a cancellation meets it")
  func cancelledAnywhere() async throws {
    let body = Data(count: 200_000)
    let server = try HTTPServer { request in
      request.path == "/moved" ? .redirect(to: "/a") : .ok(body)
    }
    let source = URLImageSource(http: .patient)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<200 {
        group.addTask {
          let task = Task {
            try await bytes(server.url(index % 4 == 0 ? "/moved" : "/a"), from: source)
          }
          for _ in 0..<(index * 7 % 400) { await Task.yield() }
          task.cancel()
          switch await task.result {
          case .success(let bytes): #expect(bytes == body)
          case .failure(let error): #expect(error is CancellationError)
          }
        }
      }
    }
    #expect(try await bytes(server.url("/a"), from: source) == body)
  }

  @Test("ends when nothing arrives for the idle time")
  func idle() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try HTTPServer([
      "/a": .lying(contentLength: 100, [.bytes(Data(count: 50)), .wait(gate)])
    ])
    var options = HTTPOptions.patient
    // Long enough for the request to arrive, on a busy machine too.
    options.idleTimeout = .seconds(2)
    let source = URLImageSource(http: options)
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(2))) {
      try await bytes(server.url("/a"), from: source)
    }
    // On a machine that is so busy the request may never have arrived.
    if server.requests.value > 0 { await server.abandonments.reaches(1) }
  }

  @Test("is not ended for silence while it waits for its turn with a host")
  func waitsItsTurn() async throws {
    let hooked = Counter()
    var options = HTTPOptions.patient
    options.connectionsPerHost = 1
    options.idleTimeout = .seconds(2)
    options.modifyRequest = { request in
      hooked.increment()
      return request
    }
    let source = URLImageSource(http: options)
    let busy = try HTTPServer([
      "/a": .chunked([.endless(Data(count: 10))]), "/b": .ok(Data("b".utf8)),
    ])
    let arrived = Counter()
    let first = Task {
      try await bytes(busy.url("/a"), from: source, limit: .max) { _ in arrived.increment() }
    }
    await arrived.reaches(1)
    let order = Order()
    let second = Task {
      defer { order.note("second") }
      return try await bytes(busy.url("/b"), from: source)
    }
    await hooked.reaches(2)

    // Another load, begun later and with more patience, says when that time is over.
    let gate = Gate()
    defer { gate.open() }
    let silent = try HTTPServer(["/c": HTTPReply([.wait(gate)])])
    options.idleTimeout = .seconds(3)
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(3))) {
      try await bytes(silent.url("/c"), from: URLImageSource(http: options))
    }
    order.note("third")
    first.cancel()
    // Whatever a busy machine makes of its turn.
    _ = await second.result
    #expect(order.notes == ["third", "second"])
  }

  @Test("ends after its total time however much arrives")
  func total() async throws {
    let server = try HTTPServer(["/a": .chunked([.endless(Data(count: 10))])])
    var options = HTTPOptions.patient
    options.totalTimeout = .seconds(2)
    let source = URLImageSource(http: options)
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(2))) {
      try await bytes(server.url("/a"), from: source, limit: .max)
    }
    // On a machine that is so busy the request may never have arrived.
    if server.requests.value > 0 { await server.abandonments.reaches(1) }
  }
}
