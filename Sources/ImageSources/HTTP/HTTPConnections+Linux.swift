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
    static let userAgent: String? = "FastImageCache"

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
    func wakes(_ multi: UnsafeMutableRawPointer?) {
      let multi = UInt(bitPattern: multi)
      state.withLock { $0.multi = multi }
    }

    func takeMessages() -> [Message] {
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
#endif
