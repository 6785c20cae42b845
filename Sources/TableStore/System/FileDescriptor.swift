/// An open file, unlocked and closed with its owner.
struct FileDescriptor: ~Copyable {
  let value: Int32

  init(_ value: Int32) { self.value = value }

  deinit {
    SystemCalls.unlock(value)
    SystemCalls.closeFile(value)
  }

  /// Leaves closing to the caller.
  consuming func release() -> Int32 {
    let value = value
    discard self
    return value
  }
}
