/// How much memory a cache gives back; each level includes those before it.
public enum MemoryTrim: Hashable, Sendable {
  /// Spare memory for the next decodes and drawings, and connections to web servers that no download
  /// uses.
  case spare

  /// The bytes of downloads that broke off: the next load of each begins anew, instead of going on where
  /// it ended.
  case partials

  /// The pages of images that nobody holds go before others: the system takes them first when it
  /// needs memory. Until then they stay, and hits find them there.
  case pages
}
