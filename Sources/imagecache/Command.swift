import CommandSupport

/// One subcommand of `imagecache`.
protocol Command: Sendable {
  static var name: String { get }
  static var grammar: ArgumentGrammar { get }

  /// - Throws: ``UsageError`` for arguments that fit the grammar but make no sense together.
  init(_ arguments: Arguments) throws

  func run() async throws -> ExitStatus
}
