import Pixels
import TestSupport

@testable import ImageDrawing

/// One pixel in the order of memory.
struct BGRA: Hashable, CustomStringConvertible {
  var blue: UInt8
  var green: UInt8
  var red: UInt8
  var alpha: UInt8

  init(_ blue: UInt8, _ green: UInt8, _ red: UInt8, _ alpha: UInt8 = 255) {
    (self.blue, self.green, self.red, self.alpha) = (blue, green, red, alpha)
  }

  var description: String { "(b \(blue), g \(green), r \(red), a \(alpha))" }

  /// The largest difference of any channel.
  func distance(to other: BGRA) -> Int {
    let pairs = [
      (blue, other.blue), (green, other.green), (red, other.red), (alpha, other.alpha),
    ]
    return pairs.map { abs(Int($0) - Int($1)) }.max() ?? 0
  }

  static let clear = BGRA(0, 0, 0, 0)
  static let black = BGRA(0, 0, 0)
  static let white = BGRA(255, 255, 255)
  static let red = BGRA(0, 0, 255)
  static let green = BGRA(0, 255, 0)
  static let blue = BGRA(255, 0, 0)
}

/// The bytes of a drawn slot, with access by pixel.
struct Drawn {
  let layout: PixelLayout
  let bytes: [UInt8]

  subscript(x: Int, y: Int) -> BGRA {
    let start = y * layout.rowBytes + x * 4
    return BGRA(bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3])
  }

  /// Each colour that occurs.
  var allPixels: Set<BGRA> {
    Set((0..<layout.size.height).flatMap { y in (0..<layout.size.width).map { self[$0, y] } })
  }

  func byte(_ x: Int, _ y: Int) -> UInt8 { bytes[y * layout.rowBytes + x] }

  func word(_ x: Int, _ y: Int) -> UInt16 {
    let start = y * layout.rowBytes + x * 2
    return UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8
  }

  /// The largest difference of any pixel of four bytes.
  func distance(to other: Drawn, x left: Int = 0, y top: Int = 0) -> Int {
    let size = layout.size
    return (0..<size.height * size.width).map { index in
      let (x, y) = (index % size.width, index / size.width)
      return self[x, y].distance(to: other[x + left, y + top])
    }.max() ?? 0
  }

  /// The bytes of one row without its padding.
  func row(_ y: Int) -> [UInt8] {
    let start = y * layout.rowBytes
    return Array(bytes[start..<start + layout.size.width * layout.format.bytesPerPixel])
  }

  var paddings: [UInt8] {
    let used = layout.size.width * layout.format.bytesPerPixel
    return (0..<layout.size.height).flatMap { y in
      let start = y * layout.rowBytes
      return bytes[(start + used)..<(start + layout.rowBytes)]
    }
  }
}

extension Bitmap {
  /// A bitmap whose rows lie as close as their pixels allow, so that a read behind the last one is a
  /// read behind the memory.
  static func tight(
    _ width: Int, _ height: Int, _ format: PixelFormat, conversion: (any ColorConversion)? = nil,
    edges: ImageEdges? = nil, bytes: (_ x: Int, _ y: Int) -> [UInt8]
  ) throws -> Bitmap {
    let layout = PixelLayout(
      size: PixelSize(width: width, height: height), format: format,
      rowBytes: width * format.bytesPerPixel)!
    return try Bitmap(layout: layout, colorConversion: conversion, edges: edges) { target in
      var offset = 0
      for y in 0..<height {
        for x in 0..<width {
          for byte in bytes(x, y) {
            target[offset] = byte
            offset += 1
          }
        }
      }
    }
  }

  static func colors(
    _ width: Int, _ height: Int, _ format: PixelFormat = .bgra32,
    color: (_ x: Int, _ y: Int) -> BGRA
  ) throws -> Bitmap {
    try tight(width, height, format) { x, y in
      let pixel = color(x, y)
      return [pixel.blue, pixel.green, pixel.red, pixel.alpha]
    }
  }

  /// Noise; with alpha, colours are at most their alpha.
  static func noise(
    _ width: Int, _ height: Int, _ format: PixelFormat, seed: UInt64
  ) throws -> Bitmap {
    var numbers = SplitMix64(state: seed)
    return try tight(width, height, format) { _, _ in
      switch format {
      case .bgra32:
        let alpha = UInt8.random(in: 0...255, using: &numbers)
        return (0..<3).map { _ in UInt8.random(in: 0...alpha, using: &numbers) } + [alpha]
      case .bgrx32, .bgr16, .gray8:
        return (0..<format.bytesPerPixel).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      }
    }
  }
}

extension Drawing {
  /// Draws into memory that holds rubbish before.
  func drawn(
    _ source: Bitmap, _ width: Int, _ height: Int, _ format: PixelFormat = .bgra32,
    scale: Double = 1, upTo: Bool = false, isCancelled: () -> Bool = { false }
  ) throws(DrawingError) -> Drawn {
    let layout = PixelLayout(size: PixelSize(width: width, height: height), format: format)!
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 64)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0xa5)
    try draw(
      source, into: memory, layout: layout, scale: scale, upTo: upTo, isCancelled: isCancelled)
    return Drawn(layout: layout, bytes: Array(memory))
  }
}

extension Bitmap {
  /// A pixel of one of the formats with four bytes.
  subscript(x: Int, y: Int) -> BGRA {
    withUnsafeBytes { bytes in
      let start = y * layout.rowBytes + x * 4
      return BGRA(bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3])
    }
  }
}

extension DrawingError {
  var isCancellation: Bool { if case .cancelled = self { true } else { false } }
}
