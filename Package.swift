// swift-tools-version: 6.3
import PackageDescription

// Targets stand in floor order, lowest first; each depends on lower floors only. That an import is
// declared here, `swift build --explicit-target-dependency-import-check error` proves; that none leads
// up a floor, a reader of this file sees.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]

/// The C libraries serve Linux only; Apple platforms have ImageIO and CoreGraphics.
let onLinux = TargetDependencyCondition.when(platforms: [.linux])
let cairoOnLinux = TargetDependencyCondition.when(platforms: [.linux], traits: ["Cairo"])
let gtkOnLinux = TargetDependencyCondition.when(platforms: [.linux], traits: ["GTK"])
let gifOnLinux = TargetDependencyCondition.when(platforms: [.linux], traits: ["GIF"])
let avifOnLinux = TargetDependencyCondition.when(platforms: [.linux], traits: ["AVIF"])
let heifOnLinux = TargetDependencyCondition.when(platforms: [.linux], traits: ["HEIF"])

/// The traits of codecs as C sees them, which has no condition for traits of its own.
let traitsInC: [CSetting] = [
  .define("FIC_GIF", .when(platforms: [.linux], traits: ["GIF"])),
  .define("FIC_AVIF", .when(platforms: [.linux], traits: ["AVIF"])),
  .define("FIC_HEIF", .when(platforms: [.linux], traits: ["HEIF"])),
  .define("FIC_SVG", .when(platforms: [.linux], traits: ["SVG"])),
  .define("FIC_PIXBUF", .when(platforms: [.linux], traits: ["Pixbuf"])),
]

// Apple's stores read the privacy manifest in a bundle of resources. On Linux nobody does, and any resource would have
// Foundation's bundles linked.
let privacyManifest = "PrivacyInfo.xcprivacy"
#if os(Linux)
  let (resources, noResources): ([Resource], [String]) = ([], [privacyManifest])
#else
  let (resources, noResources): ([Resource], [String]) = ([.copy(privacyManifest)], [])
#endif

func systemLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([apt])])
}

let package = Package(
  name: "FastImageCache",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "FastImageCache", targets: ["FastImageCache"]),
    .library(name: "FastImageCacheTesting", targets: ["FastImageCacheTesting"]),
    .library(name: "FastImageCacheGTK", targets: ["FastImageCacheGTK"]),
    .library(name: "FastImageCacheUI", targets: ["FastImageCacheUI"]),
    .library(name: "FastImageCacheMedia", targets: ["FastImageCacheMedia"]),
    .executable(name: "imagecache", targets: ["imagecache"]),
  ],
  traits: [
    .trait(name: "Cairo", description: "Drawing closures (`Canvas`) on Linux, through Cairo."),
    .trait(
      name: "GTK", description: "Images in GTK 4 windows on Linux; needs libgtk-4-dev.",
      enabledTraits: ["Cairo"]),
    .trait(
      name: "GIF",
      description: "GIF images and animations on Linux, through giflib: libgif-dev."),
    .trait(
      name: "AVIF",
      description: "AVIF images and animations on Linux, through libavif and dav1d: libavif-dev."),
    .trait(
      name: "HEIF",
      description: """
        HEIC images on Linux, through libheif and libde265 (LGPL-3): libheif-dev. Debian's libheif \
        links x265 (GPL-2) too. HEVC is subject to patents: whether a program needs licences for it is \
        its makers' to find out.
        """),
    .trait(
      name: "SVG",
      description: "SVG images on Linux, through librsvg (LGPL-2.1), which runs from librsvg2-2."),
    .trait(
      name: "Pixbuf",
      description: """
        BMP, ICO and TIFF images on Linux, through gdk-pixbuf (LGPL-2.1) and libtiff, which run from \
        libgdk-pixbuf-2.0-0.
        """),
    .default(enabledTraits: ["Cairo"]),
  ],
  targets: [
    // Below the floors: the system's libraries.
    systemLibrary("CJPEG", pkgConfig: "libjpeg", apt: "libjpeg62-turbo-dev"),
    systemLibrary("CPNG", pkgConfig: "libpng", apt: "libpng-dev"),
    systemLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    systemLibrary("CWebP", pkgConfig: "libwebpdemux", apt: "libwebp-dev"),
    systemLibrary("CLCMS", pkgConfig: "lcms2", apt: "liblcms2-dev"),
    systemLibrary("CGIF", pkgConfig: "libgif", apt: "libgif-dev"),
    systemLibrary("CAVIF", pkgConfig: "libavif", apt: "libavif-dev"),
    systemLibrary("CHEIF", pkgConfig: "libheif", apt: "libheif-dev"),
    systemLibrary("CCairo", pkgConfig: "cairo", apt: "libcairo2-dev"),
    systemLibrary("CGTK", pkgConfig: "gtk4", apt: "libgtk-4-dev"),

    // Floor 0: C over the system, and the lock.
    .target(
      name: "CImageCodecs",
      dependencies: [
        .target(name: "CJPEG", condition: onLinux), .target(name: "CPNG", condition: onLinux),
        .target(name: "CWebP", condition: onLinux), .target(name: "CLCMS", condition: onLinux),
        .target(name: "CGIF", condition: gifOnLinux),
        .target(name: "CAVIF", condition: avifOnLinux),
        .target(name: "CHEIF", condition: heifOnLinux),
      ],
      cSettings: traitsInC),
    .target(name: "CCURL"),
    .target(name: "CCanvas"),
    .target(name: "CMappedFiles"),
    .target(name: "CMemoryHints"),
    .target(name: "CProcessorClock"),
    .target(name: "CResampling"),
    .target(
      name: "CSQLite",
      linkerSettings: [
        .linkedLibrary(
          "sqlite3", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS, .macCatalyst]))
      ]),
    .target(name: "Locking", swiftSettings: settings),

    // Floor 1: vocabulary, equal slots in mapped files, and the queue of loads.
    .target(
      name: "Pixels", dependencies: ["CMemoryHints", "CResampling", "Locking"],
      swiftSettings: settings),
    .target(
      name: "TableStore",
      dependencies: ["CMappedFiles", "CMemoryHints", "CProcessorClock", "Locking"],
      swiftSettings: settings),

    .target(name: "LoadQueue", dependencies: ["Locking"], swiftSettings: settings),

    // Floor 2: encoded bytes to bitmaps, bitmaps to slot bytes; encoded files, fetched and kept.
    .target(
      name: "ImageCodecs",
      dependencies: ["Locking", "Pixels", .target(name: "CImageCodecs", condition: onLinux)],
      swiftSettings: settings),
    .target(
      name: "ImageDrawing",
      dependencies: [
        "CResampling", "Locking", "Pixels",
        .target(name: "CCanvas", condition: cairoOnLinux),
      ],
      swiftSettings: settings),

    .target(
      name: "OriginalDatabase", dependencies: ["CSQLite", "Locking", "TableStore"],
      swiftSettings: settings),

    .target(
      name: "ImageSources",
      dependencies: [
        "LoadQueue", "Locking", "Pixels", "TableStore", .target(name: "CCURL", condition: onLinux),
        .target(name: "CZlib", condition: onLinux),
      ],
      swiftSettings: settings),

    // Floor 3: the library.
    .target(
      name: "FastImageCache",
      dependencies: [
        "Locking", "Pixels", "TableStore", "ImageCodecs", "ImageDrawing", "OriginalDatabase",
        "LoadQueue", "ImageSources", .target(name: "CCanvas", condition: cairoOnLinux),
      ],
      exclude: noResources, resources: resources,
      swiftSettings: settings),

    // Floor 4: parts of views and commands, and what tests of users need.
    .target(
      name: "FastImageCacheTesting", dependencies: ["FastImageCache", "Locking"],
      swiftSettings: settings),
    .target(name: "ImageViewing", dependencies: ["FastImageCache"], swiftSettings: settings),
    .target(
      name: "CommandSupport", dependencies: ["FastImageCache", "Locking", "Pixels"],
      swiftSettings: settings),
    .target(name: "LoopbackServer", dependencies: ["Locking"], swiftSettings: settings),

    // Floor 5: views, and the command.
    .target(
      name: "FastImageCacheGTK",
      dependencies: [
        "FastImageCache", "ImageViewing", "Locking", "Pixels", "TableStore",
        .target(name: "CGTK", condition: gtkOnLinux),
      ],
      swiftSettings: settings),
    // SwiftUI, UIKit and AppKit; an empty module on Linux.
    .target(
      name: "FastImageCacheUI", dependencies: ["FastImageCache", "ImageViewing"],
      swiftSettings: settings),
    // The photo library and videos; a target of its own, because Apple's stores ask each app that links Photos why.
    // Empty on Linux, too.
    .target(
      name: "FastImageCacheMedia", dependencies: ["FastImageCache", "Locking"],
      swiftSettings: settings),
    .executableTarget(
      name: "imagecache",
      dependencies: [
        "CommandSupport", "FastImageCache", "ImageCodecs", "ImageDrawing", "LoopbackServer",
        "OriginalDatabase", "TableStore", "Pixels",
      ],
      swiftSettings: settings),

    // Tests.
    .target(
      name: "TestSupport",
      dependencies: ["ImageCodecs", "Locking", "LoopbackServer", "Pixels", "TableStore"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    .target(name: "CTestProbes", path: "Tests/CTestProbes"),
    .target(name: "CInterposer", path: "Tests/CInterposer"),
    .target(
      name: "Player",
      dependencies: [
        "FastImageCache", "ImageViewing", "LoadQueue", "Locking", "LoopbackServer",
        "OriginalDatabase", "Pixels", "TableStore",
        "TestSupport",
      ],
      path: "Tests/Player", exclude: ["Patches"], swiftSettings: settings),
    .executableTarget(
      name: "imagecache-torture",
      dependencies: [
        "CInterposer", "CommandSupport", "FastImageCache", "Locking",
        "OriginalDatabase", "Pixels", "Player", "TableStore", "TestSupport",
        .target(name: "CTestImages", condition: onLinux),
      ],
      path: "Tests/Torture", swiftSettings: settings),
    .executableTarget(
      name: "gtk-windows",
      dependencies: [
        "CommandSupport", "FastImageCache", "FastImageCacheGTK", "FastImageCacheTesting", "Locking",
        "Pixels", "TestSupport", .target(name: "CGTK", condition: gtkOnLinux),
      ],
      path: "Tests/GTKWindows", swiftSettings: settings),
    .testTarget(
      name: "PixelsTests",
      dependencies: [
        "Locking", "Pixels", "TestSupport", .target(name: "CTestProbes", condition: onLinux),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TableStoreTests",
      dependencies: ["TableStore", "CMappedFiles", "Locking", "TestSupport"],
      swiftSettings: settings),
    .target(
      name: "CTestImages",
      dependencies: [
        .target(name: "CJPEG", condition: onLinux), .target(name: "CPNG", condition: onLinux),
        .target(name: "CWebP", condition: onLinux), .target(name: "CLCMS", condition: onLinux),
        .target(name: "CAVIF", condition: avifOnLinux),
        .target(name: "CHEIF", condition: heifOnLinux),
      ],
      path: "Tests/CTestImages", cSettings: traitsInC,
      linkerSettings: [.linkedLibrary("z", .when(platforms: [.linux]))]),
    .testTarget(
      name: "ImageCodecsTests",
      dependencies: [
        "FastImageCache", "ImageCodecs", "ImageDrawing", "Pixels", "TestSupport",
        .target(name: "CImageCodecs", condition: onLinux),
        .target(name: "CTestImages", condition: onLinux),
        .target(name: "CTestProbes", condition: onLinux),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ImageDrawingTests",
      dependencies: [
        "CResampling", "ImageDrawing", "Pixels", "TestSupport",
        .target(name: "CCairo", condition: cairoOnLinux),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "FastImageCacheTests",
      dependencies: [
        "FastImageCache", "ImageSources", "LoadQueue", "OriginalDatabase", "TableStore",
        "ImageCodecs", "ImageDrawing", "Pixels", "Locking", "TestSupport",
        .target(name: "CCURL", condition: onLinux),
        .target(name: "CTestProbes", condition: onLinux),
        .target(name: "CTestImages", condition: onLinux),
        .target(name: "CCairo", condition: cairoOnLinux),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "FastImageCacheTestingTests", dependencies: ["FastImageCacheTesting"],
      swiftSettings: settings),
    .testTarget(
      name: "ImageViewingTests",
      dependencies: [
        "FastImageCache", "FastImageCacheTesting", "ImageViewing", "Locking", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PlayerTests", dependencies: ["Player", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "CorpusTests",
      dependencies: [
        "CommandSupport", "FastImageCache", "ImageCodecs", "ImageSources", "OriginalDatabase",
        "Pixels", "TableStore", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "CommandSupport", "FastImageCache", "ImageCodecs", "Pixels", "Locking", "TestSupport",
        "imagecache",
      ],
      swiftSettings: settings),
    .target(
      name: "SnippetContext", dependencies: ["FastImageCache"], path: "Tests/SnippetContext",
      swiftSettings: settings),
    .testTarget(
      name: "DocumentationTests",
      dependencies: ["FastImageCacheTesting", "SnippetContext", "TestSupport"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu11
)

// The attacks of the corpus tests as a fuzzer, which brings a main function of its own and would not
// link without it; `Tests/Fuzzing/run` asks for it.
if Context.environment["IMAGECACHE_FUZZING"] != nil {
  package.targets.removeAll { $0.name == "CorpusTests" }
  package.targets.append(
    .executableTarget(
      name: "imagecache-fuzz",
      dependencies: [
        "CommandSupport", "FastImageCache", "ImageCodecs", "ImageSources", "OriginalDatabase",
        "Pixels", "TableStore",
      ],
      path: "Tests",
      sources: ["CorpusTests/Attacks", "Fuzzing/Fuzzer.swift", "Fuzzing/PNGChecksums.swift"],
      swiftSettings: settings))
}

// The benchmark, in place of all tests. It measures `package` declarations, so it is no package of its
// own; `Tests/Benchmarks/run` and `.ci/counts` ask for it.
if Context.environment["IMAGECACHE_BENCHMARKS"] != nil {
  package.products += [
    .executable(name: "imagecache-bench", targets: ["imagecache-bench"]),
    .executable(name: "empty-program", targets: ["empty-program"]),
    // The benchmark loads it (`--peers`): a launch of the cache must not load the peers' libraries.
    .library(name: "Peers", type: .dynamic, targets: ["CPeers"]),
  ]
  package.targets.removeAll { $0.type == .test }
  package.targets += [
    .executableTarget(
      name: "imagecache-bench",
      dependencies: [
        "CBenchPeers", "CommandSupport", "FastImageCache", "ImageCodecs", "ImageDrawing",
        "ImageViewing", "Locking", "LoopbackServer", "OriginalDatabase", "Pixels", "TableStore",
        "TestSupport",
      ],
      path: "Tests/Benchmarks/Program", swiftSettings: settings),
    .testTarget(
      name: "BenchmarkTests", dependencies: ["CommandSupport", "imagecache-bench"],
      path: "Tests/Benchmarks/Tests", swiftSettings: settings),
    .executableTarget(
      name: "empty-program", path: "Tests/Benchmarks/EmptyProgram", swiftSettings: settings),
    .target(
      name: "CBenchPeers", dependencies: [.target(name: "CJPEG", condition: onLinux)],
      path: "Tests/Benchmarks/CBenchPeers"),
    .target(
      name: "CPeers", dependencies: ["CPixbuf"], path: "Tests/Benchmarks/CPeers",
      cSettings: [
        .headerSearchPath("../CBenchPeers"), .headerSearchPath("../CBenchPeers/include"),
      ],
      linkerSettings: ["lmdb", "png", "sqlite3", "webp", "webpdemux", "webpmux"].map {
        .linkedLibrary($0)
      }),
    .systemLibrary(
      name: "CPixbuf", path: "Tests/Benchmarks/CPixbuf", pkgConfig: "gdk-pixbuf-2.0",
      providers: [.apt(["libgdk-pixbuf-2.0-dev"])]),
  ]
}

// What a stage of `.ci/run` neither builds nor runs, separated by commas: targets, and folders of test
// targets as `Target/Folder`.
if let names = Context.environment["IMAGECACHE_WITHOUT"]?.split(separator: ",").map(String.init) {
  package.products.removeAll { names.contains($0.name) }
  package.targets.removeAll { names.contains($0.name) }
  for target in package.targets {
    let folders = names.filter { $0.hasPrefix(target.name + "/") }
    target.exclude += folders.map { String($0.dropFirst(target.name.count + 1)) }
  }
}

// Names of targets that compute much, which are optimized in a debug build too: a sanitizer makes them slow.
if let names = Context.environment["IMAGECACHE_OPTIMIZED"]?.split(separator: ",").map(String.init) {
  for target in package.targets where names.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
  }
}
