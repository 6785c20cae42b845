/// A 64-bit hash of many bytes, made of four independent chains of wide multiplications.
///
/// It finds damage, not forgery. The four chains keep a core's multiplier busy, so that a slot of 160 kB takes a
/// few microseconds. The mixing step is that of the wyhash family.
package enum LaneHash {
  /// Arbitrary odd constants with half of their bits set, so that no product loses its inputs.
  static let keys: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0xa37c_5d1e_94b2_6f0d, 0x5be1_942f_c87a_31d3, 0xd419_e6b3_2a5c_8f71, 0x3ac5_7b96_e81d_4f2b,
    0x96d3_1fa8_75e4_2bc9, 0x4e8b_c265_1da7_f93d, 0xe25f_3d94_6bc1_8a57, 0x71a6_d8c3_b94e_152f
  )

  @inline(__always)
  static func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let product = first.multipliedFullWidth(by: second)
    return product.high ^ product.low
  }

  /// The hash of `bytes`; different seeds give unrelated hashes.
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    var lanes = Lanes(seed: seed)
    let blocks = bytes.count / 64
    if let base = bytes.baseAddress {
      for block in 0..<blocks { lanes.absorb(base + block * 64) }
    }
    if bytes.count % 64 != 0 {
      var padded = SIMD8<UInt64>.zero
      withUnsafeMutableBytes(of: &padded) { padded in
        padded.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[(blocks * 64)...]))
        if let base = padded.baseAddress { lanes.absorb(UnsafeRawPointer(base)) }
      }
    }
    return lanes.finish(byteCount: bytes.count)
  }

  /// The hash of eight numbers.
  @inline(__always)
  static func hash(
    _ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64,
    _ e: UInt64, _ f: UInt64, _ g: UInt64, _ h: UInt64
  ) -> UInt64 {
    let ab = mix(a ^ keys.0, b ^ keys.1)
    let cd = mix(c ^ keys.2, d ^ keys.3)
    let ef = mix(e ^ keys.4, f ^ keys.5)
    let gh = mix(g ^ keys.6, h ^ keys.7)
    return mix(mix(ab ^ keys.5, cd ^ keys.2), mix(ef ^ keys.0, gh ^ keys.7) ^ keys.3)
  }

  private struct Lanes {
    private var first: UInt64
    private var second: UInt64
    private var third: UInt64
    private var fourth: UInt64

    init(seed: UInt64) {
      first = seed ^ keys.4
      second = seed ^ keys.5
      third = seed ^ keys.6
      fourth = seed ^ keys.7
    }

    @inline(__always)
    mutating func absorb(_ block: UnsafeRawPointer) {
      first = mix(word(block, 0) ^ keys.0, word(block, 1) ^ first)
      second = mix(word(block, 2) ^ keys.1, word(block, 3) ^ second)
      third = mix(word(block, 4) ^ keys.2, word(block, 5) ^ third)
      fourth = mix(word(block, 6) ^ keys.3, word(block, 7) ^ fourth)
    }

    @inline(__always)
    func finish(byteCount: Int) -> UInt64 {
      let halves = mix(mix(first ^ keys.1, second ^ keys.6), mix(third ^ keys.3, fourth ^ keys.0))
      return mix(halves ^ UInt64(byteCount), keys.2)
    }

    @inline(__always)
    private func word(_ block: UnsafeRawPointer, _ index: Int) -> UInt64 {
      UInt64(littleEndian: block.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
    }
  }
}
