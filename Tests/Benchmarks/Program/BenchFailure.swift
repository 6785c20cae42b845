/// Why a scenario could not be measured.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  static let missingPicture = BenchFailure(description: "A picture that was stored was not found.")

  static let missingOriginal = BenchFailure(
    description: "An original that was kept was not found, or not kept.")
}
