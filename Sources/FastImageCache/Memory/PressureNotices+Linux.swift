#if !canImport(Darwin)
  import Foundation
  import Glibc

  /// The kernel's notices of memory pressure, from its pressure files; `PressureNotices+Apple.swift` has
  /// the same face.
  ///
  /// A descriptor of such a file, once a trigger is written to it, is ready for `POLLPRI` when tasks have
  /// waited for memory for that long, at most once in a window. One thread waits for all of them in
  /// poll(2), without a time limit. Not with epoll(7) and a dispatch source: the kernel forgets a notice
  /// with the first look at the descriptor, which would be that of the dispatch source.
  enum PressureNotices {
    /// Begins to report, until the process ends.
    ///
    /// The files are opened on the new thread, which ends at once where there are none. A process ends only
    /// when the kernel has closed each trigger, which takes 8 to 16 ms. So a process that draws a few images
    /// and ends within seconds has none.
    static func begin(_ report: @escaping MemoryPressureWatch.Report) {
      Thread.detachNewThread {
        Thread.sleep(forTimeInterval: 5)
        wait(for: arm(files), report)
      }
    }

    // MARK: Triggers

    /// A pressure file with a trigger, and the meaning of its notices. It is closed with its last
    /// reference.
    final class Trigger: Sendable {
      let descriptor: Int32
      let level: MemoryTrim

      init(descriptor: Int32, _ level: MemoryTrim) {
        (self.descriptor, self.level) = (descriptor, level)
      }

      deinit { close(descriptor) }
    }

    /// In microseconds, of windows of 2 s: processes without rights may have only multiples of that.
    private static let triggers: [(text: String, level: MemoryTrim)] = [
      ("some 200000 2000000", .spare), ("full 100000 2000000", .pages),
    ]

    /// Writes the triggers to the files that are there and take them.
    static func arm(_ files: [String]) -> [Trigger] {
      files.flatMap { file in
        triggers.compactMap { text, level in
          let descriptor = open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
          guard descriptor >= 0 else { return nil }
          let trigger = Trigger(descriptor: descriptor, level)
          // The kernel takes the byte that ends the text for part of it.
          let bytes = text.utf8CString
          let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
          return count == bytes.count ? trigger : nil
        }
      }
    }

    // MARK: Files

    /// The files of the machine and of this process's control group.
    private static var files: [String] {
      let groups = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)
      return ["/proc/pressure/memory"] + controlGroupFiles(groups ?? "")
    }

    /// Where the pressure file of a process's control group of version 2 may be.
    ///
    /// - Parameter groups: The text of `/proc/self/cgroup`.
    static func controlGroupFiles(_ groups: String) -> [String] {
      let line = groups.split(separator: "\n").first { $0.hasPrefix("0::/") }
      // A group outside the process's namespace has a path that leads out of it.
      guard let path = line?.dropFirst(3), !path.contains("/..") else { return [] }
      let folder = path == "/" ? "" : String(path)
      // The second where version 1 has the first.
      return ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map { $0 + folder + "/memory.pressure" }
    }

    // MARK: Waiting

    /// Blocks its thread, and reports notices, until there are no triggers.
    static func wait(for triggers: [Trigger], _ report: MemoryPressureWatch.Report) {
      var polls = triggers.map { pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0) }
      // poll(2) passes over a negative descriptor.
      while polls.contains(where: { $0.fd >= 0 }) {
        guard poll(&polls, nfds_t(polls.count), -1) >= 0 else {
          if errno == EINTR { continue }
          return
        }
        var level: MemoryTrim?
        for (index, trigger) in triggers.enumerated() {
          let events = Int32(polls[index].revents)
          if events & (POLLERR | POLLHUP | POLLNVAL) != 0 {
            // The control group is gone. Its file would be ready for ever.
            polls[index].fd = -1
          } else if events & POLLPRI != 0 {
            if level != .pages { level = trigger.level }
          }
        }
        // Once, for the strongest: files of the machine and of the group speak at the same time.
        if let level { report(level) }
      }
    }
  }
#endif
