#if os(Linux)
  import Foundation
  import Glibc
  import Locking
  import TestSupport
  import Testing

  @testable import FastImageCache

  @Suite("The kernel's pressure files", .timeLimit(.minutes(10)))
  struct PressureFileTests {
    private typealias Trigger = PressureNotices.Trigger

    /// A TCP connection whose reading end is ready as a pressure file is: for `POLLPRI`, after each
    /// urgent byte.
    private final class UrgentBytes: Sendable {
      let reader: Int32
      private let writer: Int32

      init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let writer = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(listener, address, length) == 0 && listen(listener, 1) == 0
              && getsockname(listener, address, &length) == 0
              && connect(writer, address, length) == 0
          }
        }
        try #require(isConnected)
        self.writer = writer
        reader = accept(listener, nil, nil)
      }

      /// The reader belongs to its trigger.
      deinit { close(writer) }

      func send() {
        var byte: UInt8 = 1
        Glibc.send(writer, &byte, 1, Int32(MSG_OOB))
      }

      /// Takes a notice back, as the kernel does when it is seen.
      func take() {
        var byte: UInt8 = 0
        recv(reader, &byte, 1, Int32(MSG_OOB))
      }

      /// Ends the connection: ready for an error, as the file of a control group that is gone.
      func hangUp() {
        shutdown(writer, Int32(SHUT_RDWR))
        shutdown(reader, Int32(SHUT_RDWR))
      }
    }

    private let reports = Lock<[MemoryTrim]>([])
    private let count = Counter()
    private let done = Counter()

    /// Begins to wait on a thread.
    private func wait(
      for triggers: [Trigger], _ take: @escaping @Sendable (MemoryTrim) -> Void
    ) {
      Thread.detachNewThread { [reports, count, done] in
        PressureNotices.wait(for: triggers) { pressure in
          take(pressure)
          reports.withLock { $0.append(pressure) }
          count.increment()
        }
        done.increment()
      }
    }

    @Test("report, the strongest notice first")
    func reports() async throws {
      let (some, full) = (try UrgentBytes(), try UrgentBytes())
      let triggers = [
        Trigger(descriptor: some.reader, .spare), Trigger(descriptor: full.reader, .pages),
      ]
      // Both before the wait begins, so that they are seen at the same time.
      some.send()
      full.send()
      for urgent in [some, full] {
        var poll = pollfd(fd: urgent.reader, events: Int16(POLLPRI), revents: 0)
        #expect(Glibc.poll(&poll, 1, -1) == 1)
      }
      wait(for: triggers) { _ in
        some.take()
        full.take()
      }
      await count.reaches(1)
      some.send()
      await count.reaches(2)
      for urgent in [some, full] { urgent.hangUp() }
      await done.reaches(1)
      #expect(reports.withLock { $0 } == [.pages, .spare])
    }

    @Test("end the wait when all of them are gone, and are none the worse for one that is")
    func gone() async throws {
      let (first, second) = (try UrgentBytes(), try UrgentBytes())
      wait(
        for: [
          Trigger(descriptor: first.reader, .pages),
          Trigger(descriptor: second.reader, .spare),
        ]
      ) { _ in second.take() }
      first.hangUp()
      second.send()
      await count.reaches(1)
      second.hangUp()
      await done.reaches(1)
      #expect(reports.withLock { $0 } == [.spare])
    }

    @Test("are not waited for where there are none")
    func endsEarly() async {
      wait(for: []) { _ in }
      await done.reaches(1)
      #expect(count.value == 0)
    }

    @Test("get a trigger for each level; those that are missing or refuse it get none")
    func arms() throws {
      let directory = try TemporaryDirectory()
      let path = directory.url.appendingPathComponent("memory.pressure").path
      try Data().write(to: URL(fileURLWithPath: path))
      let missing = directory.url.appendingPathComponent("missing").path
      let triggers = PressureNotices.arm([missing, directory.url.path, "/dev/full", path])
      #expect(triggers.map(\.level) == [.spare, .pages])
      // Both begin at the start of this file; the kernel's take one for each descriptor.
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "full 100000 2000000\0")
    }

    @Test(
      "are those of the process's control group, where it has one of version 2",
      arguments: [
        ("0::/", "/sys/fs/cgroup/memory.pressure"),
        (
          "4:memory:/a\n0::/user.slice/b.scope\n",
          "/sys/fs/cgroup/user.slice/b.scope/memory.pressure"
        ),
        ("4:memory:/a\n", nil), ("", nil), ("0::/../other", nil),
      ])
    func controlGroups(_ text: String, _ file: String?) {
      let files = PressureNotices.controlGroupFiles(text)
      #expect(files.first == file)
      #expect(files.count == (file == nil ? 0 : 2))
    }
  }
#endif
