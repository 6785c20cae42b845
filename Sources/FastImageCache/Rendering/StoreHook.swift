import Pixels

/// The program's hook `willStore`, between the decode of an image and its drawings.
struct StoreHook: Sendable {
  let willStore: ImageHook

  /// Shows a decode to the hook, once for each entity of the plan's requests.
  func ask(
    about source: inout SourceImage, _ bitmap: Bitmap, _ plan: DecodePlan,
    _ isCancelled: @Sendable () -> Bool
  ) throws(ImageCacheError) {
    let missing = plan.requests.filter { source.answers[$0.key.entity] == nil }
    if missing.isEmpty { return }
    let shown = try shown(bitmap, plan, of: source)
    for entity in missing.map(\.key.entity) where source.answers[entity] == nil {
      let own = (plan.requests + plan.family).filter { $0.key.entity == entity }
      var image = StoredImage(shown, of: source, for: own, isNamed: true)
      source.answers[entity] = answer(&image, bitmap, isCancelled)
      if !source.mayBeStored(for: entity) { source.isRefused = true }
    }
  }

  /// Shows a decode to the hook, for an entity without an id.
  ///
  /// - Returns: The id that the hook gives; `nil` if it gives none.
  func name(
    _ source: SourceImage, _ bitmap: Bitmap, _ plan: DecodePlan,
    _ isCancelled: @Sendable () -> Bool
  ) throws(ImageCacheError) -> (id: ImageID?, answer: HookAnswer) {
    var image = StoredImage(
      try shown(bitmap, plan, of: source), of: source, for: plan.requests + plan.family,
      isNamed: false)
    let answer = try answer(&image, bitmap, isCancelled).get()
    return (image.imageID, answer)
  }

  private func answer(
    _ image: inout StoredImage, _ bitmap: Bitmap, _ isCancelled: @Sendable () -> Bool
  ) -> Result<HookAnswer, ImageCacheError> {
    do { try willStore(&image) } catch {
      if isCancelled() { return .failure(.cancelled) }
      return .failure(.willStoreFailed(entity: image.imageID, underlying: error))
    }
    return .success(HookAnswer(image, of: bitmap))
  }

  /// The bitmap in sRGB, or in the widest space of the formats if its colours are others.
  private func shown(
    _ bitmap: Bitmap, _ plan: DecodePlan, of image: SourceImage
  ) throws(ImageCacheError) -> Bitmap {
    if isShown(bitmap, in: plan.colorSpace) { return bitmap }
    do { return try bitmap.inColorSpace(plan.colorSpace) } catch {
      throw .undecodable(image.url, reason: .outOfMemory)
    }
  }

  private func isShown(_ bitmap: Bitmap, in space: ColorSpace) -> Bool {
    bitmap.colorConversion == nil && [.sRGB, space].contains(bitmap.colorSpace)
  }

  /// The private memory of a decode, with the copy that the hook is shown.
  ///
  /// A source's bitmap may be larger than the budget; its copy is made alone then.
  func byteCount(of plan: DecodePlan, _ image: SourceImage, within budget: Int) -> Int {
    let decoded = plan.byteCount == 0 ? image.decoded : nil
    if let decoded, isShown(decoded, in: plan.colorSpace) { return 0 }
    let copied = decoded?.size ?? plan.size
    return min(plan.byteCount + copied.width * copied.height * 4, budget)
  }
}
