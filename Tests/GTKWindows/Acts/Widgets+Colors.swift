#if GTK && canImport(CGTK)
  import FastImageCache
  import FastImageCacheGTK
  import FastImageCacheTesting
  import Pixels

  extension Act {
    /// An image in Display P3 looks as it would in sRGB, in each form that a renderer takes.
    @MainActor static func checkWideColors(_ findings: Findings) throws {
      for format in [ImageFormat.cell, .large] {
        for pixelFormat in [PixelFormat.bgrx32, .bgra32] {
          let wide = ImageFormat(
            name: "wide", size: .exact(format.size), pixelFormat: pixelFormat, capacity: 4,
            colorSpace: .displayP3)
          let entity = NumberedImage(number: 4711)
          let cache = try ImageCache.filled(with: [entity], formats: [wide]) {
            try $0.makeBitmap(wide.size)
          }
          let window = PlainWindow()
          let image = CachedImageWidget<NumberedImage>(format: wide, from: cache)
          image.entity = entity
          window.show(image.widget)
          window.draw()
          let difference = window.screen(of: image.widget)?.difference(from: entity, wide.size)
          // Two conversions round.
          findings.expect(
            difference.map { $0 <= 2 } == true,
            "colours in Display P3 are \(difference.map(String.init) ?? "not") shown: \(pixelFormat)"
          )
          findings.count("images in Display P3")
          window.close()
        }
      }
    }
  }

  extension Screen {
    /// The largest difference of a colour of the image in the middle.
    fileprivate func difference(from image: NumberedImage, _ imageSize: PixelSize) -> Int {
      let (left, top) = (
        (size.width - imageSize.width) / 2, (size.height - imageSize.height) / 2
      )
      var largest = 0
      for y in 0..<imageSize.height {
        for x in 0..<imageSize.width {
          let (shown, wanted) = (
            self[left + x, top + y], image.color(x: x, y: y, of: imageSize)
          )
          for shift in [0, 8, 16] {
            largest = max(largest, abs(Int(shown >> shift & 255) - Int(wanted >> shift & 255)))
          }
        }
      }
      return largest
    }
  }
#endif
