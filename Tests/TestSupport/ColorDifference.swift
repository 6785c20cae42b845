import Foundation

/// A colour of CIE 1976 L*a*b* under the white of sRGB and Display P3.
package struct LabColor: Sendable {
  package var lightness: Double
  package var a: Double
  package var b: Double

  package init(_ lightness: Double, _ a: Double, _ b: Double) {
    (self.lightness, self.a, self.b) = (lightness, a, b)
  }

  /// - Parameters:
  ///   - red: From 0 to 255, and so green and blue.
  ///   - isDisplayP3: Whether the numbers are of Display P3 instead of sRGB.
  package init(red: UInt8, green: UInt8, blue: UInt8, isDisplayP3: Bool) {
    let light = [red, green, blue].map { byte in
      let number = Double(byte) / 255
      return number <= 0.04045 ? number / 12.92 : pow((number + 0.055) / 1.055, 2.4)
    }
    // The rows of CSS Color 4, section 17, each divided by its sum, the white's.
    let rows: [[Double]] =
      isDisplayP3
      ? [
        [0.4865709, 0.2656677, 0.1982173], [0.2289746, 0.6917385, 0.0792869],
        [0, 0.0451134, 1.0439444],
      ]
      : [
        [0.4123908, 0.3575843, 0.1804808], [0.2126390, 0.7151687, 0.0721923],
        [0.0193308, 0.1191948, 0.9505322],
      ]
    let f = rows.map { row in
      let ratio = zip(row, light).map { $0 * $1 }.reduce(0, +) / row.reduce(0, +)
      return ratio > 216.0 / 24389 ? cbrt(ratio) : (24389.0 / 27 * ratio + 16) / 116
    }
    self.init(116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2]))
  }

  /// The difference to another colour by CIEDE2000: one is just visible.
  ///
  /// G. Sharma, W. Wu, E. N. Dalal: The CIEDE2000 Color-Difference Formula, 2005, equations 2 to 22.
  package func difference(to other: LabColor) -> Double {
    func degrees(_ radians: Double) -> Double { radians * 180 / .pi }
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let seventh = pow((hypot(a, b) + hypot(other.a, other.b)) / 2, 7)
    let stretch = 1.5 - 0.5 * (seventh / (seventh + pow(25, 7))).squareRoot()
    let (a1, a2) = (a * stretch, other.a * stretch)
    let (chroma1, chroma2) = (hypot(a1, b), hypot(a2, other.b))
    func hue(_ a: Double, _ b: Double) -> Double {
      let angle = degrees(atan2(b, a))
      return angle < 0 ? angle + 360 : angle
    }
    let (hue1, hue2) = (hue(a1, b), hue(a2, other.b))

    let isGray = chroma1 * chroma2 == 0
    var turn = isGray ? 0 : hue2 - hue1
    if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
    let deltaL = other.lightness - lightness
    let deltaC = chroma2 - chroma1
    let deltaH = 2 * (chroma1 * chroma2).squareRoot() * sin(radians(turn / 2))

    let meanL = (lightness + other.lightness) / 2
    let meanC = (chroma1 + chroma2) / 2
    var meanH = hue1 + hue2
    if !isGray {
      meanH = abs(hue1 - hue2) <= 180 ? meanH / 2 : meanH < 360 ? meanH / 2 + 180 : meanH / 2 - 180
    }
    let weight =
      1 - 0.17 * cos(radians(meanH - 30)) + 0.24 * cos(radians(2 * meanH))
      + 0.32 * cos(radians(3 * meanH + 6)) - 0.2 * cos(radians(4 * meanH - 63))
    let square = (meanL - 50) * (meanL - 50)
    let l = deltaL / (1 + 0.015 * square / (20 + square).squareRoot())
    let c = deltaC / (1 + 0.045 * meanC)
    let h = deltaH / (1 + 0.015 * meanC * weight)
    let bell = 30 * exp(-pow((meanH - 275) / 25, 2))
    let meanSeventh = pow(meanC, 7)
    let rotation =
      -sin(radians(2 * bell)) * 2 * (meanSeventh / (meanSeventh + pow(25, 7))).squareRoot()
    return (l * l + c * c + h * h + rotation * c * h).squareRoot()
  }
}
