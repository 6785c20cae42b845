extension ArgumentGrammar {
  /// Does the work of one call and turns its errors into messages and an exit status.
  ///
  /// A call for help prints it on standard output, and `work` is not called.
  ///
  /// - Parameters:
  ///   - words: The words of the call after the names of program and command.
  ///   - program: The name that each message begins with.
  ///   - text: Puts an error into words.
  ///   - work: May throw ``UsageError`` for arguments that fit the grammar but make no sense
  ///     together.
  package func run(
    _ words: some Sequence<String>, as program: String,
    text: (any Error) -> String = { "\($0)" },
    _ work: (Arguments) async throws -> ExitStatus
  ) async -> ExitStatus {
    do {
      let arguments = try Arguments(words, grammar: self)
      guard !arguments.isHelpWanted else {
        Console.print(help)
        return .success
      }
      return try await work(arguments)
    } catch let error as UsageError {
      Console.note("\(program): \("\(error)".printable)\nUsage: \(synopsis)")
      return .usage
    } catch {
      // After Ctrl-C an error only says that the work has ended, which the user knows.
      if !Task.isCancelled { Console.note("\(program): \(text(error).printable)") }
      return .failure
    }
  }
}
