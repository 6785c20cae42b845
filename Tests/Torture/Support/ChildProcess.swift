import CommandSupport
import Foundation

/// This program once more, as a process that may be killed.
struct ChildProcess {
  enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  let number: pid_t

  /// Starts the program with these words as its arguments.
  init(_ words: [String]) throws {
    guard let program = Bundle.main.executablePath else {
      throw CommandFailure("This program does not know where it is.")
    }
    let arguments = CStrings([program] + words)
    let environment = CStrings(
      ProcessInfo.processInfo.environment.map { name, value in "\(name)=\(value)" })
    var number: pid_t = 0
    let code = posix_spawn(&number, program, nil, nil, arguments.list, environment.list)
    guard code == 0 else {
      throw CommandFailure("\(program) cannot be started: \(String(cString: strerror(code))).")
    }
    self.number = number
  }

  func kill() { _ = Foundation.kill(number, SIGKILL) }

  /// Halts it between two instructions until `go()`.
  func halt() { _ = Foundation.kill(number, SIGSTOP) }

  func go() { _ = Foundation.kill(number, SIGCONT) }

  /// True until its end; the process stays until it is waited for.
  var isRunning: Bool {
    var information = siginfo_t()
    let code = waitid(P_PID, id_t(number), &information, WEXITED | WNOHANG | WNOWAIT)
    return code == 0 && information.si_signo == 0
  }

  /// How it ended, if it has.
  func endingIfAny() -> Ending? {
    var status: Int32 = 0
    return waitpid(number, &status, WNOHANG) == number ? Self.ending(status) : nil
  }

  /// Waits until its ledger has so many steps, or it has ended; returns how it ended.
  func endingBefore(_ stepCount: Int, in ledger: Ledger) -> Ending? {
    while ledger.count < stepCount {
      if let ending = endingIfAny() { return ending }
      pause(microseconds: 100)
    }
    return nil
  }

  /// Waits for its end.
  func ending() -> Ending {
    var status: Int32 = 0
    while waitpid(number, &status, 0) == -1, errno == EINTR {}
    return Self.ending(status)
  }

  private static func ending(_ status: Int32) -> Ending {
    let signal = status & 0x7f
    return signal == 0 ? .exit(status >> 8 & 0xff) : .signal(signal)
  }
}

/// Strings as C takes them, with nothing behind the last.
private struct CStrings: ~Copyable {
  let list: [UnsafeMutablePointer<CChar>?]

  init(_ strings: [String]) { list = strings.map { strdup($0) } + [nil] }

  deinit {
    for string in list { free(string) }
  }
}

/// The exit codes of children.
enum ChildVerdict {
  static let done: Int32 = 0
  /// A table that could not be opened or changed where nothing stood in the way.
  static let failed: Int32 = 41
  static let sawWrongImage: Int32 = 42
}

/// Waits without doing anything; only for programs that play against time, never for tests.
func pause(microseconds: Int) { usleep(UInt32(max(0, microseconds))) }
