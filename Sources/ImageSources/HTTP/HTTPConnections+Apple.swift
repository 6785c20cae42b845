#if canImport(Darwin)
  import Foundation

  #if canImport(FoundationNetworking)
    // Never on Apple platforms, whose Foundation has URL sessions; where this file is only
    // type-checked, on Linux, they are in a module of their own.
    import AppleURLSession
    import FoundationNetworking
  #endif
  import Locking
  import Security

  /// The connections of one source, through `URLSession`.
  final class HTTPConnections: Sendable {
    /// The `User-Agent` of requests where the program names none: a session has one of its own.
    static let userAgent: String? = nil

    /// Why a body in these codings cannot be read: a session decodes it, or says so.
    static func refusal(of codings: [ContentCoding]) -> ImageSourceError? { nil }

    private let delegate: HTTPSessionDelegate
    private let session: URLSession
    private let refusesEncrypted: Bool
    /// Why no request may leave this machine; `nil` as a rule.
    private let proxyRefusal: ImageSourceError?
    /// Why no https server can be trusted; `nil` as a rule.
    private let trustRefusal: ImageSourceError?

    init(options: HTTPOptions) {
      refusesEncrypted = options.certificateFile != nil
      let configuration = Self.configuration(options)
      do throws(ImageSourceError) {
        if let url = options.proxy {
          configuration.connectionProxyDictionary = Self.route(try HTTPProxy(url, .urlSession))
        }
        proxyRefusal = nil
      } catch {
        proxyRefusal = error
      }
      var pins: [Data]?
      do throws(ImageSourceError) {
        pins = try options.serverTrust.pins()
        trustRefusal = nil
      } catch {
        trustRefusal = error
      }
      delegate = HTTPSessionDelegate(pins: pins)
      session = URLSession(
        configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// A session keeps its delegate alive until it is told to end.
    deinit { session.invalidateAndCancel() }

    /// Has future requests use new connections; the session closes those that no transfer uses.
    func closeIdle() { session.flush {} }

    /// Sends one request and hands the events of its answer to `transfer`.
    func outcome(
      of request: HTTPRequest, priority: TaskPriority, avoiding costs: NetworkCosts,
      _ transfer: HTTPTransfer
    ) async throws -> HTTPTransfer.Outcome {
      if request.url.scheme?.lowercased() == "https" {
        if refusesEncrypted {
          throw ImageSourceError.network("HTTPOptions.certificateFile is for Linux only.")
        }
        if let trustRefusal { throw trustRefusal }
      }
      if let proxyRefusal, !HTTPPolicy.isThisMachine(request.url.host) { throw proxyRefusal }
      var urlRequest = URLRequest(url: request.url)
      for (name, value) in request.headers {
        urlRequest.setValue(value, forHTTPHeaderField: name)
      }
      urlRequest.allowsConstrainedNetworkAccess = !costs.contains(.constrained)
      urlRequest.allowsExpensiveNetworkAccess = !costs.contains(.expensive)
      let task = session.dataTask(with: urlRequest)
      task.priority = Self.priority(priority)
      delegate.add(transfer, for: task)
      defer { delegate.removeTransfer(for: task) }
      return try await transfer.outcome(start: { task.resume() }, cancel: { task.cancel() })
    }

    private static func configuration(_ options: HTTPOptions) -> URLSessionConfiguration {
      let configuration = URLSessionConfiguration.ephemeral
      // The image tables are the cache; nothing else is to keep a copy or an identity.
      configuration.urlCache = nil
      configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
      configuration.httpCookieStorage = nil
      configuration.httpCookieAcceptPolicy = .never
      configuration.httpShouldSetCookies = false
      configuration.urlCredentialStorage = nil
      configuration.httpMaximumConnectionsPerHost = options.connectionsPerHost
      // Later than the limits of `HTTPLoad`, which count all requests of a load. The session's own
      // limit for a whole transfer is a week.
      let longest = max(options.idleTimeout, options.totalTimeout ?? .seconds(7 * 86_400))
      configuration.timeoutIntervalForRequest = TimeInterval(longest.components.seconds + 2)
      return configuration
    }

    /// The keys of CFProxySupport.h, which names them for macOS only.
    private static func route(_ proxy: HTTPProxy) -> [AnyHashable: Any] {
      var route: [AnyHashable: Any] = ["ExceptionsList": ["localhost", "127.*", "::1"]]
      for kind in proxy.scheme == "socks5" ? ["SOCKS"] : ["HTTP", "HTTPS"] {
        route[kind + "Enable"] = 1
        route[kind + "Proxy"] = proxy.host
        route[kind + "Port"] = proxy.port
      }
      return route
    }

    private static func priority(_ priority: TaskPriority) -> Float {
      switch priority {
      case .high...: URLSessionTask.highPriority
      case .medium...: URLSessionTask.defaultPriority
      default: URLSessionTask.lowPriority
      }
    }
  }

  extension HTTPOptions {
    /// Whether ``highestByteRate`` has an effect: a `URLSession` reads as fast as it can.
    package static let limitsByteRate = false
  }

  /// Hands the events of one session to its transfers; called on the session's serial queue.
  ///
  /// Invariant: a task's transfer is in `transfers` from before the task is resumed until the
  /// transfer's caller has its answer. An event without a transfer came too late.
  private final class HTTPSessionDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Lock<[Int: HTTPTransfer]>([:])
    /// The hashes of the public keys that servers may have; `nil` for any key.
    private let pins: [Data]?

    init(pins: [Data]?) { self.pins = pins }

    func add(_ transfer: HTTPTransfer, for task: URLSessionTask) {
      transfers.withLock { $0[task.taskIdentifier] = transfer }
    }

    func removeTransfer(for task: URLSessionTask) {
      transfers.withLock { $0[task.taskIdentifier] = nil }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let space = challenge.protectionSpace
      // Other challenges than the server's own have no trust.
      guard let pins, let trust = space.serverTrust else {
        return completionHandler(.performDefaultHandling, nil)
      }
      // The system checks the certificate itself afterwards.
      let key = Self.keyHash(trust)
      if let key, pins.contains(key) { return completionHandler(.performDefaultHandling, nil) }
      transfer(for: task)?.refuse(with: .serverNotTrusted(space.host))
      completionHandler(.cancelAuthenticationChallenge, nil)
    }

    private static func keyHash(_ trust: SecTrust) -> Data? {
      let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
      return chain?.first.flatMap { CertificateKey.hash(of: SecCertificateCopyData($0) as Data) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      // Refused, so that the redirect arrives as an answer and is checked like any other.
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      guard let response = response as? HTTPURLResponse, let url = response.url,
        let transfer = transfer(for: dataTask)
      else {
        completionHandler(.cancel)
        return
      }
      // The session has joined the lines of one name, and limits the head itself.
      var lines = HTTPHeadLines()
      for name in HTTPHead.wanted {
        guard let value = response.value(forHTTPHeaderField: name) else { continue }
        _ = lines.receive("\(name): \(value)")
      }
      let head = lines.head(url: url, status: response.statusCode)
      completionHandler(transfer.receive(head) ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      if transfer(for: dataTask)?.receive(data) != true { dataTask.cancel() }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      transfer(for: task)?.end(fault: error.map { ImageSourceError($0) })
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
      guard let times = metrics.transactionMetrics.last, let start = times.fetchStartDate else {
        return
      }
      if times.requestStartDate != nil { transfer(for: task)?.noteSent() }
      // A connection's handshake is a part of the time in which it is made.
      let ends = [
        times.domainLookupEndDate, times.secureConnectionStartDate ?? times.connectEndDate,
        times.secureConnectionEndDate, times.responseStartDate, times.responseEndDate,
      ]
      transfer(for: task)?.measure(
        NetworkDurations(
          ends: ends.map { Int(clamping: Int64(($0?.timeIntervalSince(start) ?? 0) * 1_000_000)) }))
    }

    private func transfer(for task: URLSessionTask) -> HTTPTransfer? {
      transfers.withLock { $0[task.taskIdentifier] }
    }
  }

  extension ImageSourceError {
    /// What a session's error says.
    fileprivate init(_ error: any Error) {
      let failure = error as? URLError
      switch (failure?.networkUnavailableReason, failure?.code) {
      case (.constrained?, _), (.expensive?, _): self = .networkRefused
      case (_, .notConnectedToInternet?), (_, .dataNotAllowed?), (_, .internationalRoamingOff?):
        self = .offline
      default: self = .network(error.localizedDescription)
      }
    }
  }
#endif
