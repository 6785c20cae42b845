/// What the shell is told when a command ends.
package enum ExitStatus: Int32, Sendable {
  case success = 0

  /// The call was right, and something in the world was not: damage found, a picture failed.
  case failure = 1

  /// The call itself cannot be carried out as it stands.
  case usage = 2

  /// 128 and the number of SIGINT, as shells report it.
  case interrupted = 130
}
