package import Foundation

/// What only a program can lend a walk: other processes, and system calls that fail.
package protocol PlayHost: Sendable {
  /// Starts a process that runs ``NeighbourWork``, and returns when it has begun to listen.
  func startNeighbour(_ start: NeighbourStart) throws -> any PlayNeighbour

  /// Lets calls that change what is beneath folders fail until ``allowChanges()``: as on a full volume, or a read-only one.
  func refuseChanges(beneath folders: (URL, URL), isFull: Bool)
  func allowChanges()
}

/// A process that does what it is told.
package protocol PlayNeighbour: Sendable {
  /// The answer to a command; `nil` where the process ended before.
  func answer(to command: Data) async -> Data?

  /// Ends it between two instructions.
  ///
  /// - Returns: Whether it lived until then.
  func kill() async -> Bool

  /// Has it close its cache.
  ///
  /// - Returns: Whether it ended as it should.
  func close() async -> Bool
}
