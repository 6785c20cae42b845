import AVFoundation
import FastImageCache
import FastImageCacheMedia
import Foundation
import Photos
import Synchronization
import Testing

@Suite("A source of Apple's frameworks", .timeLimit(.minutes(10)))
struct AppleSourcesTests {
  // MARK: Photos

  /// The request of an asset, once it is there.
  private func request(of identifier: String) async throws -> _PhotoLibrary.Request {
    while true {
      if let request = _PhotoLibrary.requests.last(where: { $0.identifier == identifier }) {
        return request
      }
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  private func load(
    _ identifier: String, _ types: [PHAssetResourceType] = [.video, .photo], limit: Int = 100,
    progress: (@Sendable (ImageSourceProgress) -> Void)? = nil
  ) -> Task<Data?, any Error> {
    _PhotoLibrary.resources[identifier] = types
    return Task {
      try await PhotosImageSource().response(
        to: ImageSourceRequest(
          url: PhotosImageSource.url(of: identifier), byteCountLimit: limit, progress: progress)
      ).encodedData
    }
  }

  @Test("brings the file of an asset in its pieces, and tells how far it is")
  func loadsPhoto() async throws {
    let told = Mutex<[ImageSourceProgress]>([])
    let loading = load("9F98/L0/001") { step in told.withLock { $0.append(step) } }
    let request = try await request(of: "9F98/L0/001")
    #expect(request.type == .photo && request.allowsNetwork)
    request.progress(0.25)
    request.receive(Data([1, 2]))
    request.receive(Data([3]))
    request.end(nil)
    request.receive(Data([4]))
    request.end(CocoaError(.fileReadUnknown))
    #expect(try await loading.value == Data([1, 2, 3]))
    #expect(
      told.withLock { $0 } == [ImageSourceProgress(receivedByteCount: 250, expectedByteCount: 1000)]
    )
    #expect(!_PhotoLibrary.cancelled.contains("9F98/L0/001"))
  }

  @Test("brings an edited photograph as it is now")
  func loadsEdit() async throws {
    let loading = load("edited", [.photo, .fullSizePhoto])
    let request = try await request(of: "edited")
    #expect(request.type == .fullSizePhoto)
    request.end(nil)
    #expect(try await loading.value == Data())
  }

  @Test("fails with the library, beyond the limit, and for what is no photograph")
  func fails() async throws {
    let broken = load("broken")
    try await request(of: "broken").end(CocoaError(.fileReadCorruptFile))
    await #expect(throws: CocoaError.self) { try await broken.value }
    let large = load("large", limit: 3)
    let request = try await request(of: "large")
    request.receive(Data(count: 3))
    #expect(!_PhotoLibrary.cancelled.contains("large"))
    request.receive(Data(count: 1))
    await #expect(throws: ImageSourceError.tooLarge(byteCountLimit: 3)) { try await large.value }
    #expect(_PhotoLibrary.cancelled.count { $0 == "large" } == 1)
    await #expect(throws: PhotosImageSource.Failure.noPhoto("film")) {
      try await load("film", [.video]).value
    }
    let source = PhotosImageSource()
    await #expect(throws: PhotosImageSource.Failure.notFound("missing")) {
      try await source.response(to: ImageSourceRequest(url: PhotosImageSource.url(of: "missing")))
    }
    await #expect(throws: ImageSourceError.unsupportedScheme("https")) {
      try await source.response(to: ImageSourceRequest(url: URL(string: "https://a.example/1")!))
    }
  }

  @Test("cancels the library's request with its task, before and after that has begun")
  func cancels() async throws {
    let loading = load("cancelled")
    _ = try await request(of: "cancelled")
    loading.cancel()
    await #expect(throws: CancellationError.self) { try await loading.value }
    #expect(_PhotoLibrary.cancelled.contains("cancelled"))
    _PhotoLibrary.resources["early"] = [.photo]
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await PhotosImageSource().response(
        to: ImageSourceRequest(url: PhotosImageSource.url(of: "early")))
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
    #expect(_PhotoLibrary.cancelled.contains("early"))
  }

  @Test("reaches no network that the source or the request refuses")
  func obeys() async throws {
    let refused = Mutex<[Bool]>([])
    for (number, allows) in [false, true].enumerated() {
      let identifier = "network-\(number)"
      _PhotoLibrary.resources[identifier] = [.photo]
      let loading = Task {
        try await PhotosImageSource(allowsNetworkAccess: allows).response(
          to: ImageSourceRequest(url: PhotosImageSource.url(of: identifier)))
      }
      let request = try await request(of: identifier)
      refused.withLock { $0.append(request.allowsNetwork) }
      request.end(nil)
      _ = try await loading.value
    }
    #expect(refused.withLock { $0 } == [false, true])
    // Through a cache, whose requests refuse networks.
    let format = ImageFormat(
      name: "f", size: .exact(PixelSize(width: 1, height: 1)), pixelFormat: .bgrx32, capacity: 2)
    var configuration = ImageCache.Configuration()
    configuration.source = PhotosImageSource()
    let cache = try ImageCache.inMemory(formats: [format], configuration: configuration)
    _PhotoLibrary.resources["asset"] = [.photo]
    var options = LoadOptions()
    options.allowsConstrainedNetworkAccess = false
    let loading = Task { [options] in
      try await cache.image(
        for: PhotosImageSource.url(of: "asset"), format: format, options: options)
    }
    let request = try await request(of: "asset")
    #expect(!request.allowsNetwork)
    request.end(CocoaError(.fileReadNoPermission))
    await #expect(throws: ImageCacheError.self) { try await loading.value }
  }

  // MARK: Video

  @Test("brings the frame of a video at the time in its address")
  func loadsFrame() async throws {
    let video = URL(filePath: "/films/a film.mp4")
    let url = VideoFrameSource.url(of: video, at: .milliseconds(3500))
    #expect(url.fragment() == "t=3.5")
    for isExact in [false, true] {
      let response = try await VideoFrameSource(isExact: isExact).response(
        to: ImageSourceRequest(url: url))
      let bitmap = try #require(response.bitmap)
      #expect(bitmap.size == PixelSize(width: 2, height: 1))
      #expect(bitmap.withUnsafeBytes { $0[0] } == 3)
      let request = try #require(_Videos.requests.last { $0.url == video && $0.isExact == isExact })
      #expect(request.seconds == 3.5 && request.isUpright)
      #expect(
        request.options == [
          AVURLAssetAllowsExpensiveNetworkAccessKey: true,
          AVURLAssetAllowsConstrainedNetworkAccessKey: true,
        ])
    }
  }

  @Test("leaves addresses without a time to others, and fails with the video")
  func leavesOthers() async throws {
    for text in [
      "https://a.example/1.mp4", "https://a.example/1.mp4#t=x", "https://a.example/1#t=-1",
    ] {
      await #expect(throws: ImageSourceError.unsupportedScheme("https")) {
        try await VideoFrameSource().response(
          to: ImageSourceRequest(url: try #require(URL(string: text))))
      }
    }
    await #expect(throws: CocoaError.self) {
      try await VideoFrameSource().response(
        to: ImageSourceRequest(url: try #require(URL(string: "https://a.example/1.txt#t=1"))))
    }
  }
}
