/// Why a scenario could not be measured.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  static let missingImage = BenchFailure(description: "An image that was stored was not found.")

  static let missingOriginal = BenchFailure(
    description: "An original that was kept was not found, or not kept.")
}
