import FastImageCache
import FastImageCacheUI
import SwiftUI
import Synchronization

/// Shows the JPEG files of the app's bundle, and its PNG and WebP files as stickers.
@main struct GalleryApp: App {
  private let gallery: Gallery

  init() {
    let line = SlowLine(URLImageSource())
    var configuration = ImageCache.Configuration()
    configuration.source = line
    // Before the first frame, which has the images of an earlier launch.
    let cache = try? ImageCache.open(
      namespace: "gallery", formats: ImageFormat.gallery, configuration: configuration)
    gallery = Gallery(
      photos: Self.files(["jpg"]), stickers: Self.files(["png", "webp"]), cache: cache, line: line)
  }

  private static func files(_ types: [String]) -> [URL] {
    let folder = Bundle.main.resourceURL ?? Bundle.main.bundleURL
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return files?.filter { types.contains($0.pathExtension) } ?? []
  }

  var body: some Scene {
    WindowGroup { gallery }
  }
}

/// A grid with controls above it, and a page for one image.
struct Gallery: View {
  private let photos: [URL]
  private let stickers: [URL]
  private let cache: ImageCache?
  private let line: SlowLine
  @State private var pixels = PixelFormat.bgrx32
  @State private var showsStickers = false
  @State private var isSlow = false
  @State private var enlarged: URL?
  /// Another number makes all cells anew.
  @State private var round = 0

  init(photos: [URL], stickers: [URL], cache: ImageCache?, line: SlowLine) {
    (self.photos, self.stickers, self.cache, self.line) = (photos, stickers, cache, line)
  }

  var body: some View {
    VStack {
      controls
      ScrollView {
        LazyVGrid(columns: [GridItem(.adaptive(minimum: 110))]) {
          ForEach(showsStickers ? stickers : photos, id: \.self) { file in
            Button(action: { enlarged = file }) {
              CachedImageView(
                file, format: showsStickers ? .sticker : .cell(pixels),
                label: Text(file.lastPathComponent)
              ) { Color.gray }
            }
            .buttonStyle(.plain)
          }
        }
        .id(round)
      }
    }
    .overlay {
      if let enlarged { page(enlarged) }
    }
    .imageCache(cache)
  }

  @ViewBuilder private var controls: some View {
    Picker("Pixel format", selection: $pixels) {
      ForEach(PixelFormat.allCases, id: \.self) { Text($0.title).tag($0) }
    }
    .pickerStyle(.segmented)
    HStack {
      Toggle("Stickers", isOn: $showsStickers)
      Toggle("Slow network", isOn: $isSlow)
        .onChange(of: isSlow) { line.isSlow.store(isSlow, ordering: .relaxed) }
      Button("Reset") { reset() }
    }
  }

  /// One image in all the room; a tap goes back.
  private func page(_ file: URL) -> some View {
    Button(action: { enlarged = nil }) {
      CachedImageView(
        file, family: showsStickers ? "sticker" : "screen", label: Text(file.lastPathComponent)
      )
      .background(Color.black)
    }
    .buttonStyle(.plain)
  }

  /// Empties the tables, and has what is in view loaded again.
  private func reset() {
    Task {
      do { try await cache?.removeAllImages() } catch { print(error) }
      round += 1
    }
  }
}

nonisolated extension ImageFormat {
  static let sticker = ImageFormat(
    name: "sticker", family: "sticker", size: .fitting(PixelSize(width: 330, height: 330)),
    scale: 3,
    capacity: .bytes(256 << 20), animation: .allFrames(byteLimit: 16 << 20))

  private static let cells = PixelFormat.allCases.map {
    ImageFormat(
      name: "cell-\($0.rawValue)", size: .exact(points: Canvas.Size(width: 110, height: 110)),
      scale: 3, pixelFormat: $0, capacity: 500)
  }

  /// Each pixel format has a table of its own.
  static func cell(_ pixels: PixelFormat) -> ImageFormat {
    cells.first { $0.pixelFormat == pixels } ?? cells[0]
  }

  static let gallery =
    cells + [
      sticker,
      ImageFormat(
        name: "screen", family: "screen", size: .fitting(PixelSize(width: 2000, height: 2000)),
        pixelFormat: .bgrx32, capacity: 20),
    ]
}

nonisolated extension PixelFormat {
  var title: String {
    switch self {
    case .bgra32: "32BGRA"
    case .bgrx32: "32BGR"
    case .bgr16: "16BGR"
    case .gray8: "8 gray"
    }
  }
}

/// Passes images on at once, or as a slow network brings them while it is told to.
nonisolated final class SlowLine: ImageSource {
  let isSlow = Atomic(false)
  private let source: any ImageSource

  init(_ source: any ImageSource) { self.source = source }

  @concurrent
  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let response = try await source.response(to: request)
    let count = response.encodedData?.count ?? 0
    var arrived = 0
    while isSlow.load(ordering: .relaxed), arrived < count {
      try await Task.sleep(for: .milliseconds(100))
      arrived = min(arrived + 50_000, count)
      request.report(ImageSourceProgress(receivedByteCount: arrived, expectedByteCount: count))
    }
    return response
  }
}
