// swift-tools-version: 6.3
import PackageDescription

// A program beside the library, as an app would use it: it builds with the trait `GTK`, which has `Cairo` in it.
let package = Package(
  name: "Gallery",
  dependencies: [
    .package(name: "FastImageCache", path: "../../..", traits: ["GTK"])
  ],
  targets: [
    .systemLibrary(
      name: "CGalleryGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .executableTarget(
      name: "gallery",
      dependencies: [
        "CGalleryGTK",
        .product(name: "FastImageCache", package: "FastImageCache"),
        .product(name: "FastImageCacheGTK", package: "FastImageCache"),
      ],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
  ],
  swiftLanguageModes: [.v6]
)
