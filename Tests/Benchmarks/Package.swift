// swift-tools-version: 6.2
import PackageDescription

// Peers of the image cache that need more libraries than it does, kept from users of the cache.
// `./run` says what to install, builds this and the benchmark, and runs both together.
//
// The peers are a shared library which `imagecache-bench --peers` loads: that way they run in one
// process and in turns with the cache, are timed by the same code, and neither package depends on
// the other.

func systemLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([apt])])
}

let package = Package(
  name: "Benchmarks",
  products: [
    .library(name: "Peers", type: .dynamic, targets: ["CPeers"]),
    .executable(name: "Empty", targets: ["Empty"]),
  ],
  targets: [
    systemLibrary("CLMDB", pkgConfig: "lmdb", apt: "liblmdb-dev"),
    systemLibrary("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    systemLibrary("CPNGFiles", pkgConfig: "libpng", apt: "libpng-dev"),
    systemLibrary("CWebPFiles", pkgConfig: "libwebp", apt: "libwebp-dev"),
    systemLibrary("CPixbuf", pkgConfig: "gdk-pixbuf-2.0", apt: "libgdk-pixbuf-2.0-dev"),
    .target(
      name: "CPeers", dependencies: ["CLMDB", "CSQLite", "CPNGFiles", "CWebPFiles", "CPixbuf"]),
    // With which a launch is compared.
    .executableTarget(name: "Empty"),
  ],
  cLanguageStandard: .gnu11
)
