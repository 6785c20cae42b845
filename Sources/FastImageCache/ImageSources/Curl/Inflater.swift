#if !canImport(Darwin)
  import CZlib
  import Foundation

  /// Undoes the codings `gzip` and `deflate` of one body, for one thread, as its bytes arrive.
  ///
  /// libcurl can do that, but takes a stream that ends early for a whole one, and fails on codings that it
  /// does not know. Other codings are left to the picture's decoder.
  final class Inflater {
    enum Outcome {
      case taken
      /// The closure wants no more bytes.
      case refused
      case damaged
      case noMemory
    }

    /// More than one is a mistake of some server, and each multiplies the bytes.
    static let codingLimit = 2
    private static let pieceByteCount = 64 << 10

    private let coding: ContentCoding
    /// Undoes the coding that was applied before this one.
    private let next: Inflater?
    /// zlib looks at its address, which may not change.
    private let stream: UnsafeMutablePointer<z_stream>
    /// The first bytes, until there are enough to tell the format.
    private var start: [UInt8] = []
    private var hasBegun = false
    private var isOver = false

    /// - Parameter codings: In the order in which they were applied.
    /// - Returns: `nil` where nothing is to be undone.
    convenience init?(_ codings: [ContentCoding]) {
      let codings = codings.filter { $0 == .gzip || $0 == .deflate }
      guard let last = codings.last else { return nil }
      self.init(last, next: Inflater(codings.dropLast()))
    }

    private init(_ coding: ContentCoding, next: Inflater?) {
      (self.coding, self.next) = (coding, next)
      stream = .allocate(capacity: 1)
      stream.initialize(to: z_stream())
    }

    deinit {
      // Frees nothing where nothing has begun.
      inflateEnd(stream)
      stream.deallocate()
    }

    /// Whether the body may end here.
    var isAtEnd: Bool { (isOver || !hasBegun && start.isEmpty) && next?.isAtEnd ?? true }

    /// Hands the bytes that come out to a closure, one piece after the other, until it returns false.
    func decode(_ bytes: UnsafeRawBufferPointer, _ take: (Data) -> Bool) -> Outcome {
      // Bytes behind the end are ignored, as browsers do.
      if isOver { return .taken }
      if hasBegun { return inflate(bytes, take) }
      start += bytes
      guard start.count >= 2 else { return .taken }
      hasBegun = true
      let code = inflateInit2_(
        stream, window, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
      guard code == Z_OK else { return .noMemory }
      return start.withUnsafeBytes { inflate($0, take) }
    }

    /// The parameter of inflateInit2: a head of zlib or gzip, or data without a head, which some servers call
    /// `deflate`, too.
    private var window: CInt {
      let hasZlibHead = start[0] & 15 == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
      return coding == .gzip || hasZlibHead ? 15 + 32 : -15
    }

    private func inflate(_ bytes: UnsafeRawBufferPointer, _ take: (Data) -> Bool) -> Outcome {
      // zlib reads through this pointer only.
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
      stream.pointee.avail_in = uInt(bytes.count)
      var code = Z_OK
      repeat {
        var piece = Data(count: Self.pieceByteCount)
        let count = piece.withUnsafeMutableBytes { room in
          stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
          stream.pointee.avail_out = uInt(room.count)
          code = CZlib.inflate(stream, Z_NO_FLUSH)
          return room.count - Int(stream.pointee.avail_out)
        }
        switch code {
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: break
        case Z_MEM_ERROR: return .noMemory
        default: return .damaged
        }
        let outcome = passOn(piece.prefix(count), take)
        if outcome != .taken { return outcome }
        isOver = code == Z_STREAM_END
        // A full piece may have been followed by more.
      } while !isOver && stream.pointee.avail_out == 0
      return .taken
    }

    private func passOn(_ piece: Data, _ take: (Data) -> Bool) -> Outcome {
      guard !piece.isEmpty else { return .taken }
      guard let next else { return take(piece) ? .taken : .refused }
      return piece.withUnsafeBytes { next.decode($0, take) }
    }
  }
#endif
