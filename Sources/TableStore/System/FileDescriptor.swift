/// An open file that is unlocked and closed when its owner forgets it.
struct FileDescriptor: ~Copyable {
  let value: Int32

  init(_ value: Int32) { self.value = value }

  deinit {
    SystemCalls.unlock(value)
    SystemCalls.closeFile(value)
  }

  /// Gives the duty to close to the caller.
  consuming func release() -> Int32 {
    let value = value
    discard self
    return value
  }
}
