#if !canImport(Darwin)
  import CZlib
  import Foundation

  /// Undoes the codings `gzip` and `deflate` of one body, for one thread, as its bytes arrive.
  ///
  /// libcurl can do that, but takes a stream that ends early for a whole one, and fails on codings that it
  /// does not know. Other codings are left to the image's decoder.
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

    private let coding: ContentCoding
    /// Undoes the coding that was applied before this one.
    private let next: Inflater?
    /// zlib looks at its address, which may not change.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Takes each piece as it comes out. A body may have many small members, so no member allocates one.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// The first two bytes, which tell the format.
    private var start: [UInt8] = []
    private var hasBegun = false
    /// Whether a member of a gzip body has ended. Another one may follow: RFC 1952 section 2.2.
    private var hasMember = false
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
      room.deallocate()
    }

    /// Whether the body may end here.
    var isAtEnd: Bool {
      (isOver || !hasBegun && (hasMember || start.isEmpty)) && next?.isAtEnd ?? true
    }

    /// Hands the bytes that come out to a closure, one piece after the other, until it returns false.
    func decode(_ bytes: UnsafeRawBufferPointer, _ take: (Data) -> Bool) -> Outcome {
      var rest = bytes
      // Bytes behind the end are ignored, as browsers do.
      while !rest.isEmpty, !isOver {
        let outcome: Outcome
        if hasBegun {
          outcome = inflate(rest, take)
          rest = UnsafeRawBufferPointer(rebasing: rest.suffix(Int(stream.pointee.avail_in)))
        } else {
          let head = rest.prefix(2 - start.count)
          start += head
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(head.count))
          outcome = start.count < 2 ? .taken : begin(take)
        }
        guard outcome == .taken else { return outcome }
      }
      return .taken
    }

    /// Takes the two bytes of `start`.
    private func begin(_ take: (Data) -> Bool) -> Outcome {
      let head = start
      if hasMember {
        isOver = head != [0x1F, 0x8B]
        if isOver { return .taken }
      }
      let code =
        hasMember
        ? inflateReset(stream)
        : inflateInit2_(stream, window, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
      guard code == Z_OK else { return .noMemory }
      (hasBegun, start) = (true, [])
      return head.withUnsafeBytes { inflate($0, take) }
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
        stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = uInt(room.count)
        code = CZlib.inflate(stream, Z_NO_FLUSH)
        let count = room.count - Int(stream.pointee.avail_out)
        switch code {
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: break
        case Z_MEM_ERROR: return .noMemory
        default: return .damaged
        }
        let outcome = passOn(UnsafeRawBufferPointer(rebasing: room.prefix(count)), take)
        if outcome != .taken { return outcome }
        // A full piece may have been followed by more.
      } while code != Z_STREAM_END && stream.pointee.avail_out == 0
      if code == Z_STREAM_END {
        (hasBegun, hasMember) = (false, true)
        isOver = coding != .gzip
      }
      return .taken
    }

    private func passOn(
      _ piece: UnsafeRawBufferPointer, _ take: (Data) -> Bool
    ) -> Outcome {
      guard !piece.isEmpty else { return .taken }
      if let next { return next.decode(piece, take) }
      return take(Data(piece)) ? .taken : .refused
    }
  }
#endif
