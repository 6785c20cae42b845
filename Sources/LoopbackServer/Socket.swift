package import Foundation
import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A TCP socket that is closed with its last reference.
package final class Socket: Sendable {
  package enum Wake: Equatable {
    case ready
    case signalled(Signal)
    case timeIsOver
  }

  private let descriptor: CInt

  private init(_ descriptor: CInt) {
    self.descriptor = descriptor
    forbidSIGPIPE(descriptor)
    // A head and its body are two writes; without this the second waits 40 ms for the other side.
    var yes: CInt = 1
    setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<CInt>.size))
  }

  deinit { close(descriptor) }

  /// A socket that listens on the loopback interface, and its port.
  static func listening() throws -> (Socket, UInt16) {
    let socket = Socket(closingOnExec(socket(AF_INET, streamType, 0)))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let outcome = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket.descriptor, address, length) == 0
          && listen(socket.descriptor, 128) == 0
          && getsockname(socket.descriptor, address, &length) == 0
      }
    }
    guard outcome else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return (socket, UInt16(bigEndian: address.sin_port))
  }

  func accept() -> Socket? {
    let client = acceptConnection(descriptor, nil, nil)
    return client < 0 ? nil : Socket(closingOnExec(client))
  }

  /// Bytes that have arrived; `nil` when the other side is gone.
  func receive() -> Data? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Data(bytes[..<count]) : nil
  }

  /// Writes everything, and returns how many bytes that were: fewer when the other side is gone or `end`
  /// came first.
  package func send(_ bytes: Data, until end: Signal) -> Int {
    bytes.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        guard wait(for: CInt(POLLOUT), until: [end]) == .ready else { return sent }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
        let count = sendWithoutSIGPIPE(descriptor, rest.baseAddress, rest.count)
        if count < 0, errno != EAGAIN, errno != EINTR { return sent }
        sent += max(0, count)
      }
      return sent
    }
  }

  /// Waits until there is something to read, or the other side is gone, or a signal comes, or it is time.
  package func waitsForInput(
    until signals: [Signal], before deadline: ContinuousClock.Instant? = nil
  ) -> Wake? {
    wait(for: CInt(POLLIN), until: signals, before: deadline)
  }

  private func wait(
    for events: CInt, until signals: [Signal], before deadline: ContinuousClock.Instant? = nil
  ) -> Wake? {
    var polled = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
    polled += signals.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    while true {
      let count = poll(&polled, nfds_t(polled.count), Self.milliseconds(to: deadline))
      if count < 0, errno == EINTR { continue }
      if count == 0 { return .timeIsOver }
      guard count > 0 else { return nil }
      for (signal, entry) in zip(signals, polled.dropFirst()) where entry.revents != 0 {
        return .signalled(signal)
      }
      return .ready
    }
  }

  /// Rounded up; -1 for no end.
  private static func milliseconds(to deadline: ContinuousClock.Instant?) -> CInt {
    guard let deadline else { return -1 }
    let rest = ((deadline - .now) / .milliseconds(1)).rounded(.up)
    // A day is a limit that fits.
    return CInt(min(max(rest, 0), 86_400_000))
  }
}

/// An event that happens once and that `poll(2)` can wait for: a pipe whose other end closes.
package final class Signal: Sendable, Equatable {
  let descriptor: CInt
  /// The end that is closed to send; -1 once it is.
  private let other: Lock<CInt>

  package init() {
    var ends: [CInt] = [-1, -1]
    let outcome = pipe(&ends)
    precondition(outcome == 0, "pipe(2) failed with \(errno).")
    descriptor = closingOnExec(ends[0])
    other = Lock(closingOnExec(ends[1]))
  }

  deinit {
    send()
    close(descriptor)
  }

  package func send() {
    other.withLock { other in
      if other >= 0 { close(other) }
      other = -1
    }
  }

  package static func == (left: Signal, right: Signal) -> Bool { left === right }
}

/// Lets no child inherit a descriptor: one that is made meanwhile would keep a connection open, or a
/// signal from being seen.
private func closingOnExec(_ descriptor: CInt) -> CInt {
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  return descriptor
}

#if canImport(Darwin)
  private let streamType = SOCK_STREAM
  private let acceptConnection = Darwin.accept
  private func forbidSIGPIPE(_ descriptor: CInt) {
    var yes: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<CInt>.size))
  }
  private func sendWithoutSIGPIPE(
    _ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int
  ) -> Int {
    Darwin.send(descriptor, bytes, count, MSG_DONTWAIT)
  }
#else
  private let streamType = CInt(SOCK_STREAM.rawValue)
  private let acceptConnection = Glibc.accept
  private func forbidSIGPIPE(_ descriptor: CInt) {}
  private func sendWithoutSIGPIPE(
    _ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int
  ) -> Int {
    Glibc.send(descriptor, bytes, count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
  }
#endif
