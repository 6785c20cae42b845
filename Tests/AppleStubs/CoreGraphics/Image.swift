public enum CGImageAlphaInfo: UInt32, Sendable {
  case none, premultipliedLast, premultipliedFirst, last, first, noneSkipLast, noneSkipFirst
  case alphaOnly
}

public struct CGBitmapInfo: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1F)
  public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
  public static let byteOrder16Little = CGBitmapInfo(rawValue: 1 << 12)
  public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
}

public typealias CGDataProviderReleaseDataCallback =
  @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int) -> Void

public final class CGDataProvider {
  let start: UnsafeRawPointer
  let byteCount: Int
  private let release: () -> Void

  public init?(
    dataInfo info: UnsafeMutableRawPointer?, data: UnsafeRawPointer, size: Int,
    releaseData: CGDataProviderReleaseDataCallback
  ) {
    (start, byteCount) = (data, size)
    release = { releaseData(info, data, size) }
  }

  public init?(data: CFData) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count, alignment: 16)
    copy.copyBytes(from: data)
    guard let address = copy.baseAddress else { return nil }
    (start, byteCount) = (UnsafeRawPointer(address), copy.count)
    release = { copy.deallocate() }
  }

  deinit { release() }

  /// Where the bytes are.
  public var _start: UnsafeRawPointer { start }

  public var data: CFData? { Data(bytes: start, count: byteCount) }
}

public final class CGImage {
  /// How pixels lie in memory, of the many kinds that CoreGraphics has.
  enum Kind { case bgra, bgrx, bgr555, gray }

  public let width: Int
  public let height: Int
  public let bitsPerComponent: Int
  public let bitsPerPixel: Int
  public let bytesPerRow: Int
  public let colorSpace: CGColorSpace?
  public let bitmapInfo: CGBitmapInfo
  public let dataProvider: CGDataProvider?
  let kind: Kind

  public init?(
    width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int,
    space: CGColorSpace, bitmapInfo: CGBitmapInfo, provider: CGDataProvider,
    decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool, intent: CGColorRenderingIntent
  ) {
    let rowBytes = width * bitsPerPixel / 8
    guard width > 0, height > 0, bytesPerRow >= rowBytes,
      provider.byteCount >= bytesPerRow * (height - 1) + rowBytes,
      let kind = Kind(bitsPerComponent, bitsPerPixel, bitmapInfo.rawValue),
      space.numberOfComponents == (kind == .gray ? 1 : 3)
    else { return nil }
    (self.width, self.height, self.kind) = (width, height, kind)
    (self.bitsPerComponent, self.bitsPerPixel) = (bitsPerComponent, bitsPerPixel)
    (self.bytesPerRow, colorSpace, self.bitmapInfo) = (bytesPerRow, space, bitmapInfo)
    dataProvider = provider
  }

  public var alphaInfo: CGImageAlphaInfo {
    CGImageAlphaInfo(rawValue: bitmapInfo.rawValue & CGBitmapInfo.alphaInfoMask.rawValue) ?? .none
  }

  /// An image of its own, of blue, green, red and premultiplied alpha.
  public convenience init?(
    _bgra pixels: [UInt8], width: Int, height: Int, hasAlpha: Bool,
    space: CGColorSpace = CGColorSpaceCreateDeviceRGB()
  ) {
    let alpha: CGImageAlphaInfo = hasAlpha ? .premultipliedFirst : .noneSkipFirst
    guard let provider = CGDataProvider(data: Data(pixels)) else { return nil }
    self.init(
      width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: width * 4,
      space: space,
      bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue).union(.byteOrder32Little),
      provider: provider, decode: nil, shouldInterpolate: false, intent: .defaultIntent)
  }

  /// The pixels as blue, green, red and premultiplied alpha, in rows without padding.
  public var _bgra: [UInt8] {
    guard let start = dataProvider?.start else { return [] }
    var result: [UInt8] = []
    result.reserveCapacity(width * height * 4)
    for y in 0..<height {
      let row = start + y * bytesPerRow
      for x in 0..<width {
        switch kind {
        case .bgra, .bgrx:
          for channel in 0..<3 {
            result.append(row.load(fromByteOffset: x * 4 + channel, as: UInt8.self))
          }
          result.append(kind == .bgrx ? 255 : row.load(fromByteOffset: x * 4 + 3, as: UInt8.self))
        case .bgr555:
          let word = UInt(row.load(fromByteOffset: x * 2, as: UInt16.self))
          for shift in [0, 5, 10] { result.append(UInt8(((word >> shift & 31) * 255 + 15) / 31)) }
          result.append(255)
        case .gray:
          let gray = row.load(fromByteOffset: x, as: UInt8.self)
          result += [gray, gray, gray, 255]
        }
      }
    }
    return result
  }
}

extension CGImage.Kind {
  init?(_ bitsPerComponent: Int, _ bitsPerPixel: Int, _ bitmapInfo: UInt32) {
    let order = bitmapInfo & CGBitmapInfo.byteOrderMask.rawValue
    let alpha = CGImageAlphaInfo(rawValue: bitmapInfo & CGBitmapInfo.alphaInfoMask.rawValue)
    switch (bitsPerComponent, bitsPerPixel, alpha, CGBitmapInfo(rawValue: order)) {
    case (8, 32, .premultipliedFirst, .byteOrder32Little): self = .bgra
    case (8, 32, .noneSkipFirst, .byteOrder32Little): self = .bgrx
    case (5, 16, .noneSkipFirst, .byteOrder16Little): self = .bgr555
    case (8, 8, .some(.none), []): self = .gray
    default: return nil
    }
  }
}
