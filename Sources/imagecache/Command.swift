import CommandSupport

/// One thing that `imagecache` does.
protocol Command: Sendable {
  static var name: String { get }
  static var grammar: ArgumentGrammar { get }

  /// - Throws: ``UsageError`` for arguments that fit the grammar and make no sense all the same.
  init(_ arguments: Arguments) throws

  func run() async throws -> ExitStatus
}
