/// The hash function of FIPS 180-4, for ids too long to be kept on disk in full.
///
/// It must be infeasible to construct two ids with one hash, which rules `LaneHash` out. Tables
/// compute it only when they store or verify such an id; a store of originals computes it for each of
/// its keys, so ``words(of:)`` allocates nothing.
package enum SHA256 {
  package static let byteCount = 32

  package static func hash(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { hash($0) } }

  static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let words = words(of: bytes)
    var hash: [UInt8] = []
    hash.reserveCapacity(byteCount)
    for index in words.indices {
      withUnsafeBytes(of: words[index].bigEndian) { hash.append(contentsOf: $0) }
    }
    return hash
  }

  /// The hash as the numbers that it is printed as, eight digits each.
  package static func words(of bytes: UnsafeRawBufferPointer) -> SIMD8<UInt32> {
    var state = initialState
    let whole = bytes.count & ~63
    // The schedule of a block, and the last blocks with their padding.
    withUnsafeTemporaryAllocation(byteCount: 256 + 128, alignment: 16) { room in
      guard let base = room.baseAddress else { return }
      let schedule = base.bindMemory(to: UInt32.self, capacity: 64)
      if let start = bytes.baseAddress {
        for offset in stride(from: 0, to: whole, by: 64) {
          absorb(start + offset, into: &state, schedule)
        }
      }
      // Padding (section 5.1.1): a one bit, zeros, and the length in bits as the last eight bytes.
      let tail = UnsafeMutableRawBufferPointer(rebasing: room[256...])
      let rest = bytes.count - whole
      let end = rest < 56 ? 64 : 128
      tail.initializeMemory(as: UInt8.self, repeating: 0)
      tail.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[whole...]))
      tail[rest] = 0x80
      tail.storeBytes(
        of: (UInt64(bytes.count) * 8).bigEndian, toByteOffset: end - 8, as: UInt64.self)
      for offset in stride(from: 256, to: 256 + end, by: 64) {
        absorb(base + offset, into: &state, schedule)
      }
    }
    return state
  }

  private static let initialState: SIMD8<UInt32> = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]

  /// Section 6.2.2, with the working variables under their names.
  ///
  /// - Parameter schedule: Room for 64 numbers.
  private static func absorb(
    _ block: UnsafeRawPointer, into state: inout SIMD8<UInt32>,
    _ schedule: UnsafeMutablePointer<UInt32>
  ) {
    for index in 0..<16 {
      schedule[index] = UInt32(
        bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
    }
    for index in 16..<64 {
      let early = schedule[index - 15]
      let late = schedule[index - 2]
      let sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
      let sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
      schedule[index] = sigma0 &+ schedule[index - 7] &+ sigma1 &+ schedule[index - 16]
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    constants.withUnsafeBufferPointer { constants in
      for index in 0..<64 {
        let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
        let step1 = h &+ sum1 &+ (g ^ (e & (f ^ g))) &+ constants[index] &+ schedule[index]
        let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
        let step2 = sum0 &+ ((a & b) ^ (c & (a ^ b)))
        (h, g, f, e, d, c, b, a) = (g, f, e, d &+ step1, c, b, a, step1 &+ step2)
      }
    }
    state &+= SIMD8(a, b, c, d, e, f, g, h)
  }

  private static func rotated(_ value: UInt32, _ count: UInt32) -> UInt32 {
    value &>> count | value &<< (32 &- count)
  }
}
