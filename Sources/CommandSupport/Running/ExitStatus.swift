/// The exit status of a command.
package enum ExitStatus: Int32, Sendable {
  case success = 0

  /// The call was right, but the work failed: damage found, a picture not decoded.
  case failure = 1

  /// The call itself cannot be carried out as it stands.
  case usage = 2

  /// 128 and the number of SIGINT, as shells report it.
  case interrupted = 130
}
