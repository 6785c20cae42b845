import Pixels
import TableStore

/// Decides which image of an entity is the closest to the wanted one; pure.
///
/// | rank | image |
/// |---|---|
/// | 1 | the wanted one |
/// | 2 | of a sibling: the smallest that is larger, else the largest |
/// | 3 | marked stale; of the wanted format, then of siblings |
/// | 4 | of another version, if the policy allows it; the same |
/// | 5 | a placeholder; the same |
struct VariantSearch: Sendable {
  let wanted: ImageFormat
  let policy: FallbackPolicy

  /// The formats to look into, the best first: the wanted one, and those of its siblings that are large
  /// enough.
  func formats(among all: [ImageFormat]) -> [ImageFormat] {
    guard policy.allowsStandIns, let family = wanted.family else { return [wanted] }
    let siblings = all.filter { $0.family == family && $0.name != wanted.name }
      .map { (format: $0, scale: scale(of: $0.size)) }
      .filter { $0.scale >= min(1, policy.smallestScale) }
    let larger = siblings.filter { $0.scale >= 1 }.sorted { $0.scale < $1.scale }
    let smaller = siblings.filter { $0.scale < 1 }.sorted { $0.scale > $1.scale }
    return [wanted] + (larger + smaller).map(\.format)
  }

  /// The kind of preview that an image is; `nil` if the policy does not allow it.
  ///
  /// - Parameters:
  ///   - size: The image's own size.
  ///   - format: The format of the table that has it.
  func preview(
    _ standing: TableVariant.Standing, _ size: PixelSize, in format: ImageFormat
  ) -> ImagePreview? {
    let isWanted = format.name == wanted.name
    if isWanted, standing == .current {
      return ImagePreview(kind: .variant(wanted), isSettled: true)
    }
    guard policy.allowsStandIns, isWanted || fits(size, of: format) else { return nil }
    switch standing {
    case .current: return ImagePreview(kind: .variant(format), isSettled: false)
    case .stale: return ImagePreview(kind: .stale, isSettled: false)
    case .placeholder: return ImagePreview(kind: .placeholder, isSettled: false)
    case .otherVersion:
      return policy.allowsOtherVersions ? ImagePreview(kind: .stale, isSettled: false) : nil
    }
  }

  // MARK: Private

  /// Whether a sibling's image is large enough, and has the proportions of the wanted one.
  private func fits(_ size: PixelSize, of format: ImageFormat) -> Bool {
    // A small original makes small images of both formats.
    if wanted.keepsProportions { return format.keepsProportions || policy.allowsOtherProportions }
    return scale(of: size) >= min(1, policy.smallestScale)
      && (policy.allowsOtherProportions || hasProportions(size))
  }

  private func scale(of size: PixelSize) -> Double {
    min(
      Double(size.width) / Double(wanted.size.width),
      Double(size.height) / Double(wanted.size.height))
  }

  /// Compares up to 2 %, and up to the pixel by which sides are rounded.
  private func hasProportions(_ size: PixelSize) -> Bool {
    let (width, height) = (wanted.size.width, wanted.size.height)
    let (first, second) = (size.width * height, size.height * width)
    return abs(first - second) <= max(first / 50, max(width, height))
  }
}
