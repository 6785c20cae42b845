/// An open file, unlocked and closed with its owner.
package struct FileDescriptor: ~Copyable {
  package let value: Int32

  package init(_ value: Int32) { self.value = value }

  deinit {
    SystemCalls.unlock(value)
    SystemCalls.closeFile(value)
  }

  /// Leaves closing to the caller.
  package consuming func release() -> Int32 {
    let value = value
    discard self
    return value
  }
}
