import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A hook that asks the cache for other pictures", .timeLimit(.minutes(10)))
struct WillStoreReentrancyTests {
  private let overlay = Photo("overlay", url: "test:/500")

  private func number(_ number: Int, from fixture: Fixture) async throws -> Int? {
    let photo = Photo(ImageID(number), url: "test:/\(number)")
    return try await fixture.cache.image(for: photo, format: .row).solidNumber
  }

  @Test("gets them with every turn, every worker and all memory in use by loads like its own")
  func getsOverlay() async throws {
    let (overlay, arrived) = (overlay, Counter())
    let fixture = try await Fixture(
      source: ScriptedSource { _, _, _ in .encoded(Data("hollow".utf8)) },
      willStore: { image, cache in
        if image.imageID == "overlay" { return }
        arrived.increment()
        await arrived.reaches(4)
        image.bitmap = try solid(image.number + (try await cache.number(of: overlay)))
      },
      configure: {
        $0.decoders = [HollowDecoder()]
        // Memory for one decode.
        $0.resources = LoadResources(decodeWidth: 1, decodeByteBudget: 1024, localWidth: 4)
      })
    let tasks = (10..<14).map { index in Task { try await number(index, from: fixture) } }
    for (index, task) in tasks.enumerated() { #expect(try await task.value == index + 11) }
    #expect(fixture.source.started.value == 5)
    await fixture.quiet()
  }

  @Test("gets them one through the other, however few turns there are")
  func nests() async throws {
    let fixture = try await Fixture(
      willStore: { image, cache in
        let next = image.number + 1
        guard next < 9 else { return }
        let photo = Photo(ImageID(next), url: "test:/\(next)")
        image.bitmap = try solid(try await cache.number(of: photo) + 1)
      },
      configure: {
        $0.resources = LoadResources(decodeWidth: 1, localWidth: 1)
      })
    #expect(try await number(1, from: fixture) == 15)
    await fixture.quiet()
    await fixture.waiters(0)
  }

  @Test("gets one of the same URL")
  func asksForSameURL() async throws {
    let fixture = try await Fixture(willStore: { image, cache in
      guard image.imageID == 5 else { return }
      image.bitmap = try solid(try await cache.number(of: Photo("plain", url: "test:/5")) + 1)
    })
    #expect(try await number(5, from: fixture) == 6)
    await fixture.quiet()
  }

  @Test("hears an error that names the ring when it asks for the entity's own")
  func asksForItself() async throws {
    let fixture = try await Fixture(
      [.row, .large],
      willStore: { image, cache in
        _ = try await cache.number(of: Photo("a", url: "test:/5"), format: .large)
      })
    let error = await hookError(of: "a") {
      try await fixture.cache.image(for: Photo("a", url: "test:/5"), format: .row)
    }
    let ring = (error as? CircularPictureError)?.ring
    #expect(ring == [.willStore("a"), .willStore("a")])
    #expect("\(try #require(error))".contains("willStore for entity a"))
    await fixture.quiet()
  }

  @Test("hears an error when another one's hook asks for it")
  func asksInARing() async throws {
    let fixture = try await Fixture(willStore: { image, cache in
      let other = 3 - image.number
      _ = try await cache.number(of: Photo(ImageID(other), url: "test:/\(other)"))
    })
    let error = await hookError(of: 1) { try await number(1, from: fixture) }
    #expect(
      (error as? CircularPictureError)?.ring == [.willStore(1), .willStore(2), .willStore(1)])
    await fixture.quiet()
    await fixture.waiters(0)
  }
}
