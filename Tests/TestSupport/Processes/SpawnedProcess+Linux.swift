#if !canImport(Darwin)
  package import Glibc

  /// A child process with no input.
  ///
  /// Not Foundation's `Process`: that lists the descriptors of this process, and reads past the end of the
  /// list where there are more than a thousand, as there are while all tests run.
  package struct SpawnedProcess: Sendable {
    package let number: pid_t

    /// Starts a program with its signals as a shell would leave them, and no descriptor but the first three.
    ///
    /// - Parameter command: The path of the program, and its arguments.
    package init(
      _ command: [String], environment: [String: String], output: Int32, errors: Int32
    ) throws {
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, output, 1)
      posix_spawn_file_actions_adddup2(&actions, errors, 2)
      closeOthers(&actions, 3)
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var signals = sigset_t()
      sigemptyset(&signals)
      posix_spawnattr_setsigmask(&attributes, &signals)
      sigfillset(&signals)
      posix_spawnattr_setsigdefault(&attributes, &signals)
      posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
      var arguments = command.map { strdup($0) } + [nil]
      var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
      defer { for text in arguments + variables { free(text) } }
      var number: pid_t = 0
      let code = posix_spawn(
        &number, command[0], &actions, &attributes, &arguments, &variables)
      guard code == 0 else { throw SpawnFailure(program: command[0], errorNumber: code) }
      self.number = number
    }

    /// Blocks until the process has ended.
    package func waitUntilExit() -> (status: Int32, isKilled: Bool) {
      var status: Int32 = 0
      while waitpid(number, &status, 0) == -1, errno == EINTR {}
      let signal = status & 0x7f
      return signal == 0 ? (status >> 8 & 0xff, false) : (signal, true)
    }
  }

  /// posix_spawn_file_actions_addclosefrom_np(3), of glibc 2.34, which Swift's module of glibc leaves out.
  @_silgen_name("posix_spawn_file_actions_addclosefrom_np")
  @discardableResult
  private func closeOthers(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32
  ) -> Int32

  struct SpawnFailure: Error {
    let program: String
    let errorNumber: Int32
  }
#endif
