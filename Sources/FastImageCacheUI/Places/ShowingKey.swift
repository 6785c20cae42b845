#if canImport(ObjectiveC)
  /// The name of what an image view is associated with.
  ///
  /// `@unchecked Sendable` is safe: the memory is never read or written, only its address is compared.
  struct ShowingKey: @unchecked Sendable {
    let address = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
  }

  let showingKey = ShowingKey()
#endif
