#if canImport(CoreGraphics)
  public import CoreGraphics
  import Pixels
  import TableStore

  extension CachedImage {
    /// Makes a `CGImage` over the mapped pixels, without copying them.
    ///
    /// The image holds this lease until its own release. `nil` if CoreGraphics makes no image.
    public func makeCGImage() -> CGImage? {
      let lease = Unmanaged.passRetained(entry)
      let byteCount = layout.byteCount
      // The provider keeps `entry` alive, and with it the mapping, until its release callback.
      let address = entry.pixels.baseAddress
      guard let address,
        let provider = CGDataProvider(
          dataInfo: lease.toOpaque(), data: address, size: byteCount,
          releaseData: { info, _, _ in
            if let info { Unmanaged<AnyObject>.fromOpaque(info).release() }
          })
      else {
        lease.release()
        return nil
      }
      return CGImage(
        width: size.width, height: size.height, bitsPerComponent: layout.format.bitsPerComponent,
        bitsPerPixel: layout.format.bytesPerPixel * 8, bytesPerRow: layout.rowBytes,
        space: layout.format.cgColorSpace(of: colorSpace), bitmapInfo: layout.format.bitmapInfo,
        provider: provider,
        decode: nil, shouldInterpolate: false, intent: .defaultIntent)
    }
  }

  extension PixelFormat {
    fileprivate var bitsPerComponent: Int { self == .bgr16 ? 5 : 8 }

    fileprivate func cgColorSpace(of space: ColorSpace) -> CGColorSpace {
      let named =
        self == .gray8
        ? CGColorSpace(name: CGColorSpace.genericGrayGamma2_2) : space.cgColorSpace
      return named
        ?? (self == .gray8 ? CGColorSpaceCreateDeviceGray() : CGColorSpaceCreateDeviceRGB())
    }

    fileprivate var bitmapInfo: CGBitmapInfo {
      switch self {
      case .bgra32:
        CGBitmapInfo(rawValue: CGImageAlphaInfo.premultipliedFirst.rawValue)
          .union(.byteOrder32Little)
      case .bgrx32:
        CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipFirst.rawValue).union(.byteOrder32Little)
      case .bgr16:
        CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipFirst.rawValue).union(.byteOrder16Little)
      case .gray8:
        CGBitmapInfo(rawValue: CGImageAlphaInfo.none.rawValue)
      }
    }
  }
#endif
