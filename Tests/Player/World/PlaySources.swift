import FastImageCache
import Foundation
import Locking

/// How a cache reaches its sources; each shows the same pictures.
enum Wiring: String, CaseIterable, Sendable {
  /// `URLImageSource`, for files, data URLs and servers.
  case urls
  /// A closure, for all that is made in the program.
  case closure
  /// Both, the closure first.
  case chain

  func serves(_ scheme: Subject.Scheme) -> Bool {
    switch self {
    case .urls: [.file, .data, .http, .own].contains(scheme)
    case .closure: [.play, .nested, .own].contains(scheme)
    case .chain: true
    }
  }

  /// The kind of source by which a subject's picture comes, as the coverage names it.
  func kind(of scheme: Subject.Scheme) -> String {
    switch (self, scheme) {
    case (_, .own): "entity"
    case (.chain, .nested), (.closure, .nested): "nested"
    case (.urls, _): scheme.rawValue
    case (.closure, _): "closure"
    case (.chain, _): "chain"
    }
  }

  static let kinds = ["file", "data", "http", "closure", "chain", "nested", "entity"]

  func source(in world: World, _ http: HTTPOptions) -> any ImageSource {
    let closure = ClosureImageSource { request in try await world.respond(to: request) }
    return switch self {
    case .urls: URLImageSource(http: http)
    case .closure: closure
    case .chain: ImageSourceChain([closure, URLImageSource(http: http)])
    }
  }
}

extension HTTPOptions {
  /// The options of the walk: two attempts, and the account as a field of its own.
  ///
  /// - Parameter patience: How long a call may take.
  static func played(resumes: Bool, patience: Duration) -> HTTPOptions {
    var options = HTTPOptions()
    options.retry = RetryPolicy(limit: 1)
    options.retry.firstDelay = .milliseconds(1)
    options.retry.largestDelay = .milliseconds(2)
    options.resumes = resumes
    options.connectionsPerHost = 4
    options.allowsInsecureHTTP = true
    options.idleTimeout = patience / 2
    options.totalTimeout = patience * 4 / 5
    options.lowestByteRate = 0
    options.redirectLimit = 3
    options.userAgent = "player"
    options.serverTrust = .system
    options.modifyRequest = { request in
      var request = request
      if let account = request.account { request.headers["X-Account"] = "\(account.number)" }
      return request
    }
    return options
  }
}

extension AccountID {
  /// As entities number it.
  var number: Int { Int(name.split(separator: " ").last ?? "") ?? 0 }
}

extension World {
  /// The closure of the walk: pictures that are made in the program.
  func respond(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    guard let scheme = Subject.Scheme(rawValue: request.url.scheme ?? ""),
      scheme == .play || scheme == .nested, let number = Int(request.url.lastPathComponent)
    else { throw ImageSourceError.unsupportedScheme(request.url.scheme ?? "") }
    let subject = Subject.all[number]
    request.report(ImageSourceProgress(receivedByteCount: 0))
    if scheme == .nested, let cache = asked.withLock({ $0 }) {
      let inner = Subject.all.first { $0.scheme == .play && $0.isSteady } ?? subject
      let entity = PlayEntity(
        number: 900 + number, subject: inner, naming: .address, account: 0, world: self)
      do {
        let image = try await cache.image(for: entity, format: PlayFormats.row)
        guard Mark(image)?.subject == inner.number else { throw WrongInnerPicture() }
      } catch ImageCacheError.closed {}
    }
    return try await answer(for: subject, account: request.account?.number ?? 0)
      .with(metadata: Data("\(number)".utf8))
  }
}

struct WrongInnerPicture: Error {}
