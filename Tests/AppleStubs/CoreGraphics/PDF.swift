public enum CGPDFBox: Int32, Sendable { case mediaBox, cropBox, bleedBox, trimBox, artBox }

/// Reads documents of one page whose objects are plain text, and whose page has rectangles only.
public final class CGPDFDocument {
  private let text: String

  public init?(_ provider: CGDataProvider) {
    guard let data = provider.data, data.starts(with: Data("%PDF-".utf8)) else { return nil }
    text = String(decoding: data, as: UTF8.self)
    guard text.contains("%%EOF") else { return nil }
  }

  public var isEncrypted: Bool { text.contains("/Encrypt") }
  /// No password is known, the empty one neither.
  public var isUnlocked: Bool { !isEncrypted }
  public func unlockWithPassword(_ password: UnsafePointer<CChar>) -> Bool { isUnlocked }
  public var numberOfPages: Int { text.contains("/MediaBox") ? 1 : 0 }
  public func page(at pageNumber: Int) -> CGPDFPage? {
    1...max(1, numberOfPages) ~= pageNumber && numberOfPages > 0 ? CGPDFPage(text) : nil
  }
}

public final class CGPDFPage {
  fileprivate let text: String

  fileprivate init(_ text: String) { self.text = text }

  /// The numbers behind a key.
  private func numbers(_ key: String) -> [Double] {
    guard let key = text.range(of: key) else { return [] }
    let rest = text[key.upperBound...].drop { $0 == " " || $0 == "[" }
    return rest.prefix { $0.isNumber || " .-".contains($0) }.split(separator: " ")
      .compactMap { Double($0) }
  }

  public var rotationAngle: Int32 { Int32(numbers("/Rotate").first ?? 0) }

  public func getBoxRect(_ box: CGPDFBox) -> CGRect {
    let crop = box == .mediaBox ? [] : numbers("/CropBox")
    let corners = crop.count == 4 ? crop : numbers("/MediaBox")
    guard corners.count == 4 else { return .zero }
    return CGRect(
      x: corners[0], y: corners[1], width: corners[2] - corners[0], height: corners[3] - corners[1])
  }
}

extension CGContext {
  public func drawPDFPage(_ page: CGPDFPage) {
    var operands: [Double] = []
    var rectangle = CGRect.zero
    let content = page.text.components(separatedBy: "\nstream\n").last ?? ""
    for word in content.split(whereSeparator: \.isWhitespace) {
      switch word {
      case "rg" where operands.count == 3:
        setFillColor(
          CGColor(red: operands[0], green: operands[1], blue: operands[2], alpha: 1))
      case "re" where operands.count == 4:
        rectangle = CGRect(x: operands[0], y: operands[1], width: operands[2], height: operands[3])
      case "f": fill(rectangle)
      default:
        if let number = Double(word) {
          operands.append(number)
          continue
        }
      }
      operands = []
    }
  }
}
