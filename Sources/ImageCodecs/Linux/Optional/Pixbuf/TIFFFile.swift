#if Pixbuf && !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension PixbufFile {
    /// Reads the first directory of a TIFF 6.0 file.
    ///
    /// libtiff believes what a directory says about its own length, about that of strips, and of everything else it
    /// points to. So the lengths must fit into the file together, and only compressions that scanners and cameras use
    /// are let through. gdk-pixbuf would look at the next directory, too, so it is told that there is none.
    init(tiff bytes: RawSpan) throws(ImageDecodingError) {
      let directory = try TIFFDirectory(bytes)
      func number(_ tag: TIFFDirectory.Tag, _ otherwise: Int) throws(ImageDecodingError) -> Int {
        try directory.numbers(tag, bytes)?.first ?? otherwise
      }
      let size = PixelSize(width: try number(.width, 0), height: try number(.height, 0))
      guard size.isPositive, size.width <= Int32.max, size.height <= Int32.max else {
        throw .damaged("TIFF: an image of \(size) pixels")
      }
      let compression = try number(.compression, 1)
      guard [1, 2, 3, 4, 5, 7, 8, 32773, 32946].contains(compression) else {
        throw .unsupported("TIFF: compression \(compression)")
      }
      let (photometric, samples) = (try number(.photometric, -1), try number(.samples, 1))
      let depth = try directory.numbers(.depth, bytes)?.max() ?? 1
      guard [0, 1, 2, 3, 5, 6].contains(photometric), (1...8).contains(samples),
        [1, 2, 4, 8, 16].contains(depth)
      else {
        throw .unsupported(
          "TIFF: \(samples) samples of \(depth) bits, photometric \(photometric)")
      }
      let isPlanar = try number(.planes, 1) == 2
      let segment = try directory.segment(of: size, planes: isPlanar ? samples : 1, bytes)
      // libtiff unpacks four planes at once, also where there are fewer.
      let bits = (isPlanar ? max(samples, 4) : samples) * depth
      let segmentBits = [segment.width, segment.height, bits].reduce(1) {
        $0.multipliedClamped(by: $1)
      }
      // libjpeg keeps coefficients of two bytes for files of several scans.
      let coefficients =
        compression == 7
        ? [segment.width, segment.height, samples, 2].reduce(1) { $0.multipliedClamped(by: $1) } : 0
      let isGray = photometric < 2
      let hasAlpha = samples > (isGray || photometric == 3 ? 1 : 3) && photometric != 5
      var alpha = hasAlpha ? fic_pixbuf_alpha.multiplied : .opaque
      // Of gray pixels libtiff multiplies none, and leaves out alpha of 16 bits.
      if isGray, hasAlpha, !isPlanar {
        let extra = try number(.extraSamples, 0)
        guard extra == 0 || depth <= 8 else {
          throw .unsupported("TIFF: 16 bits of gray and alpha")
        }
        alpha = extra == 0 ? .opaque : extra == 2 ? .separate : .multiplied
      }
      let next = directory.next
      self.init(
        .tiff, size, alpha,
        [
          .place(0..<next.lowerBound), .bytes(Data(count: next.count)),
          .place(next.upperBound..<bytes.byteCount),
        ])
      // gdk-pixbuf's copy of the file, and libtiff's of a strip, before and after it is unpacked; some copies of values
      // that entries point to, of which a profile is one.
      extraByteCount = (segmentBits / 8).addingClamped(coefficients)
        .addingClamped(2 * bytes.byteCount + 4 * directory.byteCount + (1 << 20))
      orientation = Self.orientation(leftBy: try number(.orientation, 1))
      if let place = directory.place(.profile), place.count > Self.profileLimit {
        throw .tooLarge("TIFF: a profile of \(place.count) bytes")
      }
      if photometric != 5, let place = directory.place(.profile) {
        profile = (place, isGray ? .grayAsColor : .rgb)
      }
    }

    /// gdk-pixbuf ends the process where it has no memory for its copy of a profile.
    private static var profileLimit: Int { 8 << 20 }

    /// libtiff mirrors rows and columns, and exchanges neither for the other, so that half of each turn is left; see
    /// gdk-pixbuf's option `orientation`.
    private static func orientation(leftBy orientation: Int) -> Orientation {
      switch orientation {
      case 5, 7: .leftMirrored
      case 6, 8: .rightMirrored
      default: .up
      }
    }
  }
#endif
