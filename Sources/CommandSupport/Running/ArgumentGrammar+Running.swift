extension ArgumentGrammar {
  /// Does the work of one call and turns what it throws into words and an exit status.
  ///
  /// Words that ask for help get it on standard output, and `work` is not called.
  ///
  /// - Parameters:
  ///   - words: The words of the call that come after the names of program and command.
  ///   - program: The name that each message begins with.
  ///   - text: Puts an error into words.
  ///   - work: May throw ``UsageError`` for arguments that fit the grammar and make no sense.
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
      // After Ctrl-C an error says only that the work has ended, and that is known.
      if !Task.isCancelled { Console.note("\(program): \(text(error).printable)") }
      return .failure
    }
  }
}
