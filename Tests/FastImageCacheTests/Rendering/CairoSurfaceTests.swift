#if Cairo && canImport(CCairo)
  import CCairo
  import FastImageCache
  import Foundation
  import Testing

  @Suite("A Cairo surface of a cached image", .timeLimit(.minutes(10)))
  struct CairoSurfaceTests {
    @Test("shows the mapped pixels and holds the lease until it is destroyed")
    func holdsLease() async throws {
      let fixture = try await Fixture()
      try await fixture.cache.store(solid(0x1234), for: Photo("a"), format: .row)
      let surface = try #require(
        fixture.cache.cachedImage(for: Photo("a"), format: .row)?.makeCairoSurface())
      #expect(cairo_image_surface_get_width(surface) == 8)
      #expect(cairo_image_surface_get_height(surface) == 8)
      #expect(await fixture.cache.statistics().tables.first?.leasedCount == 1)

      let copy = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1)
      let context = cairo_create(copy)
      cairo_set_source_surface(context, surface, -3, -5)
      cairo_paint(context)
      cairo_surface_flush(copy)
      let data = try #require(cairo_image_surface_get_data(copy))
      #expect([data[0], data[1], data[2]] == [0x34, 0x12, 77])
      cairo_destroy(context)
      cairo_surface_destroy(copy)

      cairo_surface_destroy(surface)
      #expect(await fixture.cache.statistics().tables.first?.leasedCount == 0)
    }

    @Test("is refused for pixel formats that Cairo does not know, and for Display P3's numbers")
    func refusesOtherStyles() async throws {
      let wide = ImageFormat(
        name: "wide", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4,
        colorSpace: .displayP3)
      let fixture = try await Fixture([.dot, wide])
      for format in [ImageFormat.dot, wide] {
        let image = try await fixture.cache.store(solid(1), for: Photo("a"), format: format)
        #expect(image.makeCairoSurface() == nil)
      }
    }
  }
#endif
