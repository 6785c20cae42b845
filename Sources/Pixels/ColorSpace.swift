/// The colours that a pixel's red, green and blue stand for.
///
/// Both spaces have the same white and the same curve, so gray is the same in both.
public enum ColorSpace: String, CaseIterable, Hashable, Sendable, Codable {
  /// IEC 61966-2-1: the colours that every screen shows, and those of images that name none.
  case sRGB

  /// The primaries of SMPTE RP 431-2 with sRGB's white and curve: the colours of phones' cameras and screens.
  ///
  /// It has every colour of sRGB, and more saturated ones besides.
  case displayP3
}

extension ColorSpace {
  /// The number that a colour has in another space, beyond 0 to 1 where that space does not have it.
  ///
  /// - Parameter color: Red, green and blue, from 0 to 1, not multiplied by alpha; numbers beyond continue the
  ///   curve, mirrored below zero.
  package func converted(_ color: SIMD3<Double>, to other: ColorSpace) -> SIMD3<Double> {
    guard self != other else { return color }
    let light = SIMD3(
      SRGBCurve.light(of: color.x), SRGBCurve.light(of: color.y), SRGBCurve.light(of: color.z))
    let rows = matrix(to: other)
    func number(_ row: SIMD3<Double>) -> Double { SRGBCurve.number(of: (row * light).sum()) }
    return SIMD3(number(rows.0), number(rows.1), number(rows.2))
  }

  /// Rows of the matrix that turns light of this space into light of another; CSS Color 4, section 10.
  ///
  /// The sum of each row is one, so that gray stays what it is.
  func matrix(
    to other: ColorSpace
  ) -> (red: SIMD3<Double>, green: SIMD3<Double>, blue: SIMD3<Double>) {
    switch (self, other) {
    case (.sRGB, .displayP3):
      (
        SIMD3(0.822461968714362, 0.177538031285638, 0),
        SIMD3(0.033194198850962, 0.966805801149038, 0),
        SIMD3(0.017082630721120, 0.072397440663963, 0.910519928614917)
      )
    case (.displayP3, .sRGB):
      (
        SIMD3(1.224940176280560, -0.224940176280560, 0),
        SIMD3(-0.042056954709688, 1.042056954709688, 0),
        SIMD3(-0.019637554590334, -0.078636045550632, 1.098273600140966)
      )
    case (.sRGB, .sRGB), (.displayP3, .displayP3):
      (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))
    }
  }
}
