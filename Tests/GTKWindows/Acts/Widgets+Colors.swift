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
          let entity = NumberedPicture(number: 4711)
          let cache = try ImageCache.filled(with: [entity], formats: [wide]) {
            try $0.makeBitmap(wide.size)
          }
          let window = PlainWindow()
          let picture = CachedImageWidget<NumberedPicture>(format: wide, from: cache)
          picture.entity = entity
          window.show(picture.widget)
          window.draw()
          let difference = window.screen(of: picture.widget)?.difference(from: entity, wide.size)
          // Two conversions round.
          findings.expect(
            difference.map { $0 <= 2 } == true,
            "colours in Display P3 are \(difference.map(String.init) ?? "not") shown: \(pixelFormat)"
          )
          findings.count("pictures in Display P3")
          window.close()
        }
      }
    }
  }

  extension Screen {
    /// The largest difference of a colour of the image in the middle.
    fileprivate func difference(from picture: NumberedPicture, _ pictureSize: PixelSize) -> Int {
      let (left, top) = (
        (size.width - pictureSize.width) / 2, (size.height - pictureSize.height) / 2
      )
      var largest = 0
      for y in 0..<pictureSize.height {
        for x in 0..<pictureSize.width {
          let (shown, wanted) = (
            self[left + x, top + y], picture.color(x: x, y: y, of: pictureSize)
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
