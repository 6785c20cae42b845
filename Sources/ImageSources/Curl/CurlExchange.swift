#if !canImport(Darwin)
  import CCURL
  import Foundation

  /// One request's handle of libcurl, and the memory that has to live as long.
  ///
  /// Invariants:
  /// 1. The handle's callbacks get this object unretained; it outlives them, since `CurlLoop` keeps
  ///    it until it has taken the handle from the multi handle, on the thread that calls them.
  /// 2. A head is complete when its empty line comes; fields that come later are trailers, and heads
  ///    of interim answers (1xx) are replaced by the next head.
  final class CurlExchange {
    let easy: UnsafeMutableRawPointer
    let transfer: HTTPTransfer

    private let request: HTTPRequest
    private let proxy: URL?
    private let pace: CurlRateQueue<UnsafeMutableRawPointer>?
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>

    private var head = HTTPHeadLines()
    private var isHeadPassedOn = false
    /// Reads the head where the library refuses it.
    fileprivate private(set) var plain: PlainHead?
    /// How many bytes of the body are to come, where the library waits for the connection's end instead.
    private var restCount: Int?
    private var inflater: Inflater?
    /// Why the body cannot be decoded.
    private var codingFault: ImageSourceError?

    /// Throws when there is no memory, when the library refuses an option, such as the address, and
    /// when the proxy cannot be used.
    init(
      _ transfer: HTTPTransfer, _ request: HTTPRequest, _ options: HTTPOptions,
      _ pace: CurlRateQueue<UnsafeMutableRawPointer>?
    ) throws(ImageSourceError) {
      guard let easy = fic_curl_easy_init() else { throw Self.refusal(CURLE_OUT_OF_MEMORY) }
      self.easy = easy
      self.transfer = transfer
      (self.request, proxy, self.pace) = (request, options.proxy, pace)
      errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
      errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
      try configure(request)
      try choosePath(to: request.url, options)
      if let rate = options.highestByteRate {
        // Pieces for a quarter of a second, so that one does not hold up the others for long.
        let byteCount = min(max(rate / 4, 1024), Int(CURL_MAX_WRITE_SIZE))
        try Self.check([fic_curl_set_long(easy, CURLOPT_BUFFERSIZE, byteCount)])
      }
    }

    deinit {
      fic_curl_easy_cleanup(easy)
      fic_curl_slist_free_all(fields)
      errorText.deallocate()
    }

    /// Whether requests to this address wait until the first connection to its server tells its protocol.
    ///
    /// A TLS handshake tells. Plain http tells with its first answer, which may be slow, and is never HTTP/2 here.
    static func waitsForConnection(to url: URL) -> Bool { url.scheme?.lowercased() == "https" }

    /// Whether a server ended one stream of HTTP/2, and goes on with its connection: RFC 9113 section 5.4.2.
    static func isReset(_ code: CURLcode) -> Bool { code == CURLE_HTTP2_STREAM }

    /// What the library says of an exchange that ended with `code`; `nil` for a success.
    func fault(_ code: CURLcode) -> ImageSourceError? {
      if let codingFault { return codingFault }
      if let plain, !isHeadPassedOn { return plain.refusal }
      guard code != CURLE_OK, restCount != 0 else {
        return inflater?.isAtEnd == false
          ? .network("The compressed body ends before its data do.") : nil
      }
      if code == CURLE_SSL_PINNEDPUBKEYNOTMATCH { return .serverNotTrusted(request.url.host ?? "") }
      var number = 0
      fic_curl_get_long(easy, CURLINFO_OS_ERRNO, &number)
      if code == CURLE_COULDNT_CONNECT, [ENETUNREACH, ENETDOWN].contains(CInt(number)) {
        return .offline
      }
      let detail = String(cString: errorText)
      let isUseless = detail.isEmpty || HTTPProxy.isQuoted(in: detail)
      return .network(isUseless ? String(cString: fic_curl_easy_strerror(code)) : detail)
    }

    /// The stages of the request so far; CURLINFO_TOTAL_TIME_T(3) and its kin.
    var durations: NetworkDurations {
      let ends = [
        CURLINFO_NAMELOOKUP_TIME_T, CURLINFO_CONNECT_TIME_T, CURLINFO_APPCONNECT_TIME_T,
        CURLINFO_STARTTRANSFER_TIME_T, CURLINFO_TOTAL_TIME_T,
      ]
      return NetworkDurations(
        ends: ends.map { info in
          var microseconds = curl_off_t(0)
          fic_curl_get_offset(easy, info, &microseconds)
          return Int(microseconds)
        })
    }

    private static func refusal(_ code: CURLcode) -> ImageSourceError {
      code == CURLE_OUT_OF_MEMORY
        ? .noMemoryForRequest
        : .network(
          "libcurl refused an option: \(String(cString: fic_curl_easy_strerror(code)))")
    }

    private static func check(_ outcomes: [CURLcode]) throws(ImageSourceError) {
      if let code = outcomes.first(where: { $0 != CURLE_OK }) { throw refusal(code) }
    }

    private func configure(_ request: HTTPRequest) throws(ImageSourceError) {
      for (name, value) in request.headers {
        // A field without a value is written with a semicolon; CURLOPT_HTTPHEADER(3).
        let line = value.isEmpty ? "\(name);" : "\(name): \(value)"
        guard let extended = fic_curl_slist_append(fields, line) else {
          throw Self.refusal(CURLE_OUT_OF_MEMORY)
        }
        fields = extended
      }
      // One thread serves all transfers: a slow name server must not hold up the others.
      fic_curl_leave_lookups_behind(easy)
      let context = Unmanaged.passUnretained(self).toOpaque()
      fic_curl_tell_of_sending(
        easy,
        { context, _, _, _, _ in
          guard let context else { return 0 }
          Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue().transfer.noteSent()
          return 0
        }, context)
      try Self.check([
        fic_curl_set_text(easy, CURLOPT_URL, request.url.absoluteString),
        fic_curl_set_long(easy, CURLOPT_PROTOCOLS, Int(CURLPROTO_HTTP | CURLPROTO_HTTPS)),
        // Over HTTP/2 requests share the first connection, once it is known to be one.
        fic_curl_set_long(easy, CURLOPT_PIPEWAIT, Self.waitsForConnection(to: request.url) ? 1 : 0),
        fic_curl_set_pointer(easy, CURLOPT_HTTPHEADER, fields),
        fic_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
        // Time is kept by `HTTPClient`; and no signal may be used by a library.
        fic_curl_set_long(easy, CURLOPT_NOSIGNAL, 1),
        fic_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText),
        fic_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION, receiveHeaderLine),
        fic_curl_set_pointer(easy, CURLOPT_HEADERDATA, context),
        fic_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION, receiveBody),
        fic_curl_set_pointer(easy, CURLOPT_WRITEDATA, context),
      ])
    }

    /// Says through which proxy the server is reached, and who vouches for it.
    private func choosePath(to url: URL, _ options: HTTPOptions) throws(ImageSourceError) {
      var outcomes: [CURLcode] = []
      if HTTPPolicy.isThisMachine(url.host) {
        // Unless it is empty, the environment may name one, to which this machine is another.
        outcomes.append(fic_curl_set_text(easy, CURLOPT_PROXY, ""))
      } else if let proxyURL = options.proxy {
        let proxy = try HTTPProxy(proxyURL, .curl)
        outcomes.append(fic_curl_set_text(easy, CURLOPT_PROXY, proxy.address))
        outcomes.append(fic_curl_set_text(easy, CURLOPT_PROXYUSERNAME, proxy.user))
        outcomes.append(fic_curl_set_text(easy, CURLOPT_PROXYPASSWORD, proxy.password))
        // The environment's exceptions are to the environment's proxy.
        outcomes.append(fic_curl_set_text(easy, CURLOPT_NOPROXY, ""))
      }
      if let file = options.certificateFile {
        outcomes.append(fic_curl_set_text(easy, CURLOPT_CAINFO, file.path))
        // The other place where the library looks for the system's.
        outcomes.append(fic_curl_set_pointer(easy, CURLOPT_CAPATH, nil))
      }
      if url.scheme?.lowercased() == "https", let pins = try options.serverTrust.pins() {
        let keys = pins.map { "sha256//\($0.base64EncodedString())" }.joined(separator: ";")
        outcomes.append(fic_curl_set_text(easy, CURLOPT_PINNEDPUBLICKEY, keys))
      }
      try Self.check(outcomes)
    }

    /// One line of a head, an empty one at its end; `false` drops the connection.
    fileprivate func receive(headerLine line: [UInt8]) -> Bool {
      // Trailers count, too, and say nothing.
      let isEnd = head.receive(line) && !isHeadPassedOn
      if head.isOverlong { transfer.refuse(with: .network("The head of the answer has no end.")) }
      return !head.isOverlong && (!isEnd || passOnHead())
    }

    /// False while other exchanges, or the pause that all are in, come first.
    fileprivate func mayTake(_ byteCount: Int) -> Bool { pace?.take(byteCount, by: easy) ?? true }

    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
      if plain != nil, !isHeadPassedOn { return receive(plain: bytes[...]) }
      guard let count = restCount else { return decode(bytes) }
      guard decode(UnsafeRawBufferPointer(rebasing: bytes.prefix(count))) else { return false }
      restCount = count - min(count, bytes.count)
      return restCount != 0
    }

    /// Has the handle ask once more where the library refused a head that browsers read.
    ///
    /// - Returns: Whether the handle is to begin anew.
    func asksPlainly(after code: CURLcode) -> Bool {
      guard [CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL].contains(code), plain == nil,
        !isHeadPassedOn, !transfer.isOver, isDirect, let address = PlainHead.address(of: request)
      else { return false }
      (plain, head) = (PlainHead(refusal: fault(code)), HTTPHeadLines())
      // The second is CURLPROTO_GOPHERS, which older headers lack.
      let protocols = Int(CURLPROTO_GOPHER) | 1 << 29
      return [
        fic_curl_set_text(easy, CURLOPT_URL, address),
        fic_curl_set_long(easy, CURLOPT_PROTOCOLS, protocols),
        fic_curl_set_long(easy, CURLOPT_SSL_ENABLE_ALPN, 0),
      ].allSatisfy { $0 == CURLE_OK }
    }

    /// Whether no proxy stands between: for Gopher libcurl takes others from the environment, or none.
    private var isDirect: Bool {
      HTTPPolicy.isThisMachine(request.url.host)
        || proxy == nil
          && !ProcessInfo.processInfo.environment.contains { name, value in
            name.lowercased().hasSuffix("_proxy") && name.lowercased() != "no_proxy"
              && !value.isEmpty
          }
    }

    /// Takes lines up to the end of the head, and the rest as the body.
    private func receive(plain bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
      var rest = bytes
      while let line = plain?.takeLine(&rest) {
        guard plain?.status != nil, receive(headerLine: line) else { return false }
        if isHeadPassedOn {
          return rest.isEmpty || receive(body: UnsafeRawBufferPointer(rebasing: rest))
        }
        // An interim answer is over.
        if line.isEmpty { plain?.status = nil }
      }
      return plain?.isOverlong == false
    }

    private func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard let inflater else { return transfer.receive(Data(bytes)) }
      switch inflater.decode(bytes, transfer.receive) {
      case .taken: return true
      case .refused: break
      case .damaged: codingFault = .network("The body is not compressed as its head says.")
      case .noMemory: codingFault = .noMemoryForRequest
      }
      return false
    }

    private func passOnHead() -> Bool {
      var status = plain?.status ?? 0
      if plain == nil { fic_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) }
      guard status >= 200 else { return true }
      let head = head.head(url: request.url, status: status)
      let isCoded = head.fields["transfer-encoding", default: "identity"].lowercased() != "identity"
      // Chunks are the library's to read.
      if plain != nil, isCoded { return false }
      isHeadPassedOn = true
      guard transfer.receive(head) else { return false }
      inflater = Inflater(head.codings)
      if plain != nil || head.fields["transfer-encoding"] != nil {
        restCount = status == 304 ? 0 : head.contentLength.flatMap { $0 < 0 ? nil : $0 }
      }
      return restCount != 0
    }
  }

  /// CURLOPT_HEADERFUNCTION(3): any answer but the number of bytes drops the connection.
  private func receiveHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int {
    guard let context else { return -1 }
    let exchange = Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    // The library hands Gopher's request to its user as a head.
    if exchange.plain != nil { return size * count }
    var line = [UInt8](UnsafeRawBufferPointer(start: bytes, count: size * count))
    while line.last == UInt8(ascii: "\n") || line.last == UInt8(ascii: "\r") { line.removeLast() }
    return exchange.receive(headerLine: line) ? size * count : -1
  }

  /// CURLOPT_WRITEFUNCTION(3): any answer but the number of bytes drops the connection, and one has the piece
  /// come again when the exchange goes on.
  private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int {
    guard let context else { return -1 }
    let exchange = Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    guard exchange.mayTake(size * count) else { return Int(CURL_WRITEFUNC_PAUSE) }
    let goesOn = exchange.receive(
      body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return goesOn ? size * count : -1
  }
#endif
