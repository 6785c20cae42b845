import Testing

/// Runs every test that is linked into the program.
@main struct Runner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
