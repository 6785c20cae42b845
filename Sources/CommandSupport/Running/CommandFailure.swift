/// Why a correct call could not do its work: one sentence that names the file or step.
package struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
