#if !canImport(Darwin)
  import CCURL
  import Foundation
  import Locking

  /// The connections of one source, through libcurl.
  ///
  /// Not through FoundationNetworking's `URLSession`, by which a server can end the process
  /// ([0013](../../../../Docs/Decisions/0013-libcurl-below-http-on-linux.md)).
  ///
  /// One thread serves all transfers. Other threads leave it messages in its mailbox.
  final class HTTPConnections: Sendable {
    /// The `User-Agent` of requests where the program names none: large sites refuse requests without one.
    static let userAgent: String? = "FastImageCache/\(LibraryVersion.text)"

    private let mailbox: CurlMailbox

    /// Whether a name server that does not answer holds up its own requests only: libcurl can leave a
    /// lookup behind since version 7.87.
    static var leavesLookupsBehind: Bool {
      // A library that cannot be loaded looks nothing up.
      guard (try? CurlLibrary.load()) != nil else { return false }
      return fic_curl_leaves_lookups_behind()
    }

    /// Why a body in these codings cannot be read; `nil` where it can, by an ``Inflater``.
    ///
    /// Brotli and Zstandard come unasked only, and bytes in them look like no image's.
    static func refusal(of codings: [ContentCoding]) -> ImageSourceError? {
      guard codings.count <= Inflater.codingLimit else {
        return .network("The body is compressed \(codings.count) times.")
      }
      let coding = codings.first { $0 == .brotli || $0 == .zstandard }
      return coding.map {
        .network("The body is compressed as \($0.rawValue), which was not asked for.")
      }
    }

    init(options: HTTPOptions) {
      mailbox = CurlMailbox(options: options)
    }

    deinit { mailbox.post(.stop) }

    /// Closes all connections as soon as no transfer is under way.
    func closeIdle() { mailbox.post(.closeIdle) }

    /// Sends one request and hands the events of its answer to `transfer`.
    ///
    /// The priority has no meaning here: `HostLimiter` lets in no more than there are connections. Nor have
    /// the networks to avoid: libcurl knows the cost of none.
    func outcome(
      of request: HTTPRequest, priority: TaskPriority, avoiding costs: NetworkCosts,
      _ transfer: HTTPTransfer
    ) async throws -> HTTPTransfer.Outcome {
      try await transfer.outcome(
        start: { mailbox.post(.start(transfer, request)) },
        cancel: { mailbox.post(.cancel(transfer)) })
    }
  }

  extension HTTPOptions {
    /// Whether ``highestByteRate`` has an effect.
    package static let limitsByteRate = true
  }

  /// Messages to the thread that owns the connections.
  ///
  /// Invariants:
  /// 1. `isServed` from the first start until the thread has read `stop`, or could not begin; the
  ///    next start then makes another. No message follows `stop`, which comes from the deinitialiser of
  ///    the only poster.
  /// 2. Messages are read in the order in which they were posted. A cancel that overtook its start
  ///    finds nothing to cancel, and then the start finds a transfer that is over.
  /// 3. `multi` is set only while that handle exists, and used under the lock alone: no late call reaches a
  ///    handle that is gone. curl_multi_wakeup(3) is the one call that any thread may make. The pointer is a
  ///    number because a pointer is not `Sendable`.
  final class CurlMailbox: Sendable {
    enum Message: Sendable {
      case start(HTTPTransfer, HTTPRequest)
      case cancel(HTTPTransfer)
      case closeIdle
      case stop
    }

    private struct State {
      var messages: [Message] = []
      var isServed = false
      var multi: UInt = 0
    }

    private let options: HTTPOptions
    private let makeHandle: @Sendable () -> UnsafeMutableRawPointer?
    private let state = Lock(State())

    /// - Parameter makeHandle: curl_multi_init(3), or what a test has in its place.
    init(
      options: HTTPOptions,
      makeHandle: @escaping @Sendable () -> UnsafeMutableRawPointer? = { fic_curl_multi_init() }
    ) {
      (self.options, self.makeHandle) = (options, makeHandle)
    }

    func post(_ message: Message) {
      state.withLock { state in
        if !state.isServed, case .start = message {
          state.isServed = true
          Thread.detachNewThread { self.serve() }
        }
        guard state.isServed else { return }
        state.messages.append(message)
        if let multi = UnsafeMutableRawPointer(bitPattern: state.multi) {
          fic_curl_multi_wakeup(multi)
        }
      }
    }

    /// From now on messages wake the thread that waits with this handle; called before the former one goes.
    fileprivate func wakes(_ multi: UnsafeMutableRawPointer?) {
      let multi = UInt(bitPattern: multi)
      state.withLock { $0.multi = multi }
    }

    fileprivate func takeMessages() -> [Message] {
      state.withLock { state in
        defer { state.messages = [] }
        return state.messages
      }
    }

    /// The thread's work, with libcurl loaded here rather than on the thread of a poster.
    private func serve() {
      do throws(ImageSourceError) {
        let loop = try CurlLoop(options: options, mailbox: self, makeHandle: makeHandle)
        loop.run()
      } catch {
        refuseStarts(with: error)
      }
    }

    private func refuseStarts(with error: ImageSourceError) {
      let messages = state.withLock { state in
        defer { state = State() }
        return state.messages
      }
      for case .start(let transfer, _) in messages { transfer.refuse(with: error) }
    }
  }

  /// Serves all transfers of one source on its own thread, which makes it, until it is told to stop.
  private final class CurlLoop {
    private var multi: UnsafeMutableRawPointer
    private let options: HTTPOptions
    private let mailbox: CurlMailbox
    /// Bounds the bytes of all exchanges together; `nil` for no bound.
    private let pace: CurlRateQueue<UnsafeMutableRawPointer>?
    private let makeHandle: @Sendable () -> UnsafeMutableRawPointer?
    private var exchanges: [UnsafeMutableRawPointer: CurlExchange] = [:]
    private var isStopped = false
    private var closesIdle = false

    /// Loads libcurl, which takes milliseconds in a process that has not used it yet.
    ///
    /// - Parameters:
    ///   - mailbox: Wakes no loop until this one is made, which reads older messages first.
    ///   - makeHandle: curl_multi_init(3).
    /// - Throws: ``ImageSourceError/missingLibrary(_:)``, or ``ImageSourceError/network(_:)`` where there is
    ///   no memory.
    init(
      options: HTTPOptions, mailbox: CurlMailbox,
      makeHandle: @escaping @Sendable () -> UnsafeMutableRawPointer?
    ) throws(ImageSourceError) {
      try CurlLibrary.load()
      guard let multi = Self.makeMulti(options, makeHandle) else { throw .noMemoryForRequest }
      (self.multi, self.makeHandle) = (multi, makeHandle)
      self.options = options
      self.mailbox = mailbox
      pace = options.highestByteRate.map { CurlRateQueue(byteRate: max(1, $0)) }
      mailbox.wakes(multi)
    }

    /// Blocks its thread until a stop is read; then every connection is closed.
    func run() {
      while true {
        mailbox.takeMessages().forEach(obey)
        if isStopped { break }
        var runningCount: CInt = 0
        fic_curl_multi_perform(multi, &runningCount)
        endFinishedExchanges()
        letOn()
        if closesIdle, exchanges.isEmpty {
          closeConnections()
          // Messages that came meanwhile may have rung at the former handle.
          continue
        }
        // Until a socket, one of the library's timers, a message or the next piece's turn;
        // curl_multi_poll(3).
        fic_curl_multi_poll(multi, pace?.timeout ?? .max)
      }
      for exchange in exchanges.values { drop(exchange, fault: .network("The source is gone.")) }
      mailbox.wakes(nil)
      fic_curl_multi_cleanup(multi)
    }

    /// `nil` where there is no memory.
    private static func makeMulti(
      _ options: HTTPOptions, _ makeHandle: () -> UnsafeMutableRawPointer?
    ) -> UnsafeMutableRawPointer? {
      guard let multi = makeHandle() else { return nil }
      fic_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, options.connectionsPerHost)
      return multi
    }

    /// Puts a new handle in the place of the present one, which takes its connections along: the library
    /// closes idle connections in no other way.
    private func closeConnections() {
      closesIdle = false
      // Without memory for another handle the connections stay.
      guard let next = Self.makeMulti(options, makeHandle) else { return }
      let former = multi
      multi = next
      mailbox.wakes(multi)
      fic_curl_multi_cleanup(former)
    }

    private func obey(_ message: CurlMailbox.Message) {
      switch message {
      case .start(let transfer, let request):
        // Its cancel may have overtaken it.
        if transfer.isOver { return }
        do throws(ImageSourceError) {
          let exchange = try CurlExchange(transfer, request, options, pace)
          // Any other code means that there is no memory, since the handle is a new one.
          guard fic_curl_multi_add_handle(multi, exchange.easy) == CURLM_OK else {
            throw .noMemoryForRequest
          }
          exchanges[exchange.easy] = exchange
        } catch {
          transfer.refuse(with: error)
        }
      case .cancel(let transfer):
        let exchange = exchanges.values.first { $0.transfer === transfer }
        if let exchange { drop(exchange, fault: nil) }
      case .closeIdle:
        closesIdle = true
      case .stop:
        isStopped = true
      }
    }

    private func endFinishedExchanges() {
      var restCount: CInt = 0
      while let message = fic_curl_multi_info_read(multi, &restCount) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
          let exchange = exchanges[easy]
        else { continue }
        let code = message.pointee.data.result
        if exchange.asksPlainly(after: code) {
          fic_curl_multi_remove_handle(multi, easy)
          if fic_curl_multi_add_handle(multi, easy) == CURLM_OK { continue }
        }
        drop(exchange, fault: exchange.fault(code), isReset: CurlExchange.isReset(code))
      }
    }

    /// Has exchanges go on whose turn has come: each is called with the piece that it was refused.
    private func letOn() {
      while let easy = pace?.letOn() {
        let code = fic_curl_easy_pause(easy, CURLPAUSE_RECV_CONT)
        if code != CURLE_OK, let exchange = exchanges[easy] {
          drop(exchange, fault: exchange.fault(code))
        }
      }
    }

    /// Ends an exchange. One that is not finished takes its connection with it, or over HTTP/2 its
    /// stream.
    private func drop(
      _ exchange: CurlExchange, fault: ImageSourceError?, isReset: Bool = false
    ) {
      fic_curl_multi_remove_handle(multi, exchange.easy)
      exchanges[exchange.easy] = nil
      pace?.leave(exchange.easy)
      exchange.transfer.measure(exchange.durations)
      exchange.transfer.end(fault: fault, isReset: isReset)
    }
  }

  /// libcurl, which no program links: most launches of a program with a cache send no request.
  enum CurlLibrary {
    /// Loads and initialises libcurl. Any thread may call this; the first call that succeeds takes
    /// milliseconds and makes the functions of `CCURL` usable, and a call that failed may be repeated.
    ///
    /// - Throws: ``ImageSourceError/missingLibrary(_:)``.
    static func load() throws(ImageSourceError) {
      let reason: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { text in
        // The function writes a text with its zero when it returns false.
        guard let start = text.baseAddress, !fic_curl_load(start, text.count) else { return nil }
        return String(cString: start)
      }
      guard let reason else { return }
      throw .missingLibrary(
        "libcurl, which Debian's package libcurl4 installs, cannot be used: \(reason)")
    }
  }

  extension ImageSourceError {
    static let noMemoryForRequest = Self.network("There is no memory for a request.")
  }
#endif
