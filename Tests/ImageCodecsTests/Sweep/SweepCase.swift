#if !canImport(ImageIO)
  internal import CTestImages
  import FastImageCache
  import Foundation
  import ImageCodecs
  import ImageDrawing
  import Pixels

  /// A valid file, a format and a drawing, all of which follow from a number.
  struct SweepCase: CustomStringConvertible {
    let description: String
    private let file: SweepFile
    private let format: ImageFormat
    private let drawing: Drawing
    /// What would become of damage, of which there is none.
    private let damagedImages: DamagedImagePolicy
    /// Colours of the outermost blocks are averaged with their padding, which is much of a small image.
    private let leastDecibels: Double

    /// - Parameter number: Cases from ``firstLarge`` on may be as large as photographs and screens.
    init(number: UInt64) {
      var choices = Choices(number: number)
      let isLarge = number >= Self.firstLarge && choices.any("large", of: [false, true])
      let kind = choices.pick("kind", SweepFile.Kind.allCases)
      let size = isLarge ? choices.largeSize(isPhotograph: kind == .jpeg) : choices.size()
      let orientation = choices.pick("orientation", Array(1...8))
      let upright = orientation < 5 ? size : size.transposed
      let slot = choices.slot(for: upright)
      // Waves that are as long where they are drawn smallest.
      let reduction = max(
        1, Double(upright.width) / Double(slot.width), Double(upright.height) / Double(slot.height))
      let way = choices.pick("drawing", Way.allCases)
      drawing = way.drawing
      let pixelFormat = choices.pick("pixels", [PixelFormat.bgrx32, .bgra32, .bgr16, .gray8])
      let quality = choices.pick("quality", [ImageFormat.Quality.balanced, .best])
      format = ImageFormat(
        name: "sweep", size: way == .upTo ? .fitting(slot) : .exact(slot),
        pixelFormat: pixelFormat,
        capacity: 2, quality: quality)
      file = SweepFile(
        kind, size, wavelength: 12 * reduction, orientation: orientation, &choices)
      leastDecibels = min(size.width, size.height) < 40 ? 28 : 38
      damagedImages = choices.pick("damaged", [.refuse, .showPart])
      description = choices.trail
    }

    static let firstLarge: UInt64 = 10_000

    private enum Way: CaseIterable {
      case fill, fillTop, fillBottomRight, fillCrop, fit, fitBottom, stretch, stretchCrop, upTo

      var drawing: Drawing {
        let crop = Canvas.Rect(x: 0.15, y: 0.3, width: 0.6, height: 0.45)
        switch self {
        case .fill, .upTo: return .aspectFill
        case .fillTop: return .aspectFill(alignment: .top)
        case .fillBottomRight: return .aspectFill(alignment: .bottomRight)
        case .fillCrop: return .aspectFill(crop: crop)
        case .fit: return .aspectFit
        case .fitBottom: return .aspectFit(alignment: .bottom)
        case .stretch: return .stretch
        case .stretchCrop: return .stretch(crop: crop)
        }
      }
    }

    /// What a cache stores of the file in place of its full decode; `nil` where they are as alike as they should be.
    func fault(_ resources: LoadResources) async throws -> String? {
      var configuration = ImageCache.Configuration()
      configuration.resources = resources
      configuration.damagedImages = damagedImages
      let cache = try ImageCache.inMemory(formats: [format], configuration: configuration)
      // The whole image may take more than a cache allows for its part.
      var limits = DecodingLimits()
      limits.workingByteCount = 1 << 30
      let bitmap = try decode(file.data, limits: limits)
      if let fault = file.fault(in: bitmap) { return fault }
      let whole = try await cache.store(bitmap, for: entity("whole"), format: format)
      let stored = try await cache.store(file.data, for: entity("stored"), format: format)
      if stored.isDamaged { return "damaged" }
      if stored.size != whole.size { return "\(stored.size) and not \(whole.size)" }
      var largest: Int32 = 0
      let (first, second) = (stored.bytesToCompare, whole.bytesToCompare)
      let meanSquare = fic_test_mean_square(first, second, first.count, &largest)
      let decibels = meanSquare > 0 ? 10 * log10(255 * 255 / meanSquare) : 100
      if decibels >= leastDecibels, largest <= 24 { return nil }
      return "\(decibels) dB, \(largest) levels at worst"
    }

    private func entity(_ id: ImageID) -> Sketch { Sketch(imageID: id, drawing: drawing) }
  }

  private struct Sketch: ImageEntity {
    let imageID: ImageID
    let drawing: Drawing

    func sourceURL(for format: ImageFormat) -> URL? { nil }
    func drawing(for format: ImageFormat) -> Drawing { drawing }
  }

  extension CachedImage {
    /// The pixels with the padding of their rows, a byte for each colour.
    fileprivate var bytesToCompare: [UInt8] {
      withPixels { span in
        span.withUnsafeBytes { bytes in
          guard layout.format == .bgr16 else { return Array(bytes) }
          return [UInt8](unsafeUninitializedCapacity: bytes.count * 2) { result, count in
            if let source = bytes.baseAddress, let target = result.baseAddress {
              PixelRows.expand(source, format: .bgr16, to: target, count: bytes.count / 2)
            }
            count = bytes.count * 2
          }
        }
      }
    }
  }

  extension Choices {
    /// A size near multiples of the blocks of JPEG files.
    fileprivate mutating func size() -> PixelSize {
      let sides = Array(stride(from: 8, through: 320, by: 8))
      let offsets = [0, -3, -1, 1, 4]
      return PixelSize(
        width: any("width", of: sides) + pick("+", offsets),
        height: any("height", of: sides) + pick("+", offsets))
    }

    fileprivate mutating func largeSize(isPhotograph: Bool) -> PixelSize {
      let screens = [
        (640, 480), (682, 1024), (800, 600), (1024, 768), (1066, 1600), (1080, 1920), (1170, 2532),
        (1242, 2208), (1290, 2796), (1365, 2048), (1366, 768), (1440, 900), (2048, 1536),
        (2560, 1440),
      ]
      let photographs = [
        (3024, 4032), (3264, 2448), (3648, 5472), (4000, 3000), (4032, 2268), (4608, 3456),
        (6000, 4000),
      ]
      let (width, height) = any("size", of: isPhotograph ? screens + photographs : screens)
      let size = PixelSize(width: width, height: height)
      return any("turned", of: [false, true]) ? size.transposed : size
    }

    /// A slot for some reduction of an image.
    fileprivate mutating func slot(for size: PixelSize) -> PixelSize {
      func side(_ side: Int, _ tenths: Int) -> Int { min(max(1, side * 10 / tenths), 2000) }
      let tenths = [7, 10, 15, 22, 27, 34, 43, 60, 90, 140]
      let width = side(size.width, any("tenths", of: tenths))
      return PixelSize(
        width: width,
        height: pick("oblong") ? side(size.height, any("tenths", of: tenths)) : width)
    }
  }
#endif
