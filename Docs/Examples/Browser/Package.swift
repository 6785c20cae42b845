// swift-tools-version: 6.3
import PackageDescription

// A program beside the library, as an app would use it: it builds with the trait `GTK`.
let package = Package(
  name: "Browser",
  dependencies: [
    .package(name: "FastImageCache", path: "../../..", traits: ["GTK"])
  ],
  targets: [
    .executableTarget(
      name: "browser",
      dependencies: [
        .product(name: "FastImageCache", package: "FastImageCache"),
        .product(name: "FastImageCacheGTK", package: "FastImageCache"),
      ],
      swiftSettings: [.defaultIsolation(MainActor.self)])
  ],
  swiftLanguageModes: [.v6]
)
