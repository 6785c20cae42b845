import FastImageCache

extension ImagePlace.Request {
  /// A step of a load; the last one is the image or the failure.
  enum Step: Sendable {
    /// This part of the bytes has arrived, from 0 to 1.
    case fraction(Double)
    case preview(CachedImage)
    case image(CachedImage)
    /// The image of the smaller address, which stands in until the user no longer saves data.
    case lowDataImage(CachedImage)
    case failure(ImageCacheError)
  }

  /// Loads the image. A task that is cancelled may be told nothing more.
  ///
  /// - Parameter priority: That of a request whose options have none.
  func load(_ priority: RequestPriority?, _ tell: (Step) -> Void) async {
    var conditions = options ?? LoadOptions()
    conditions.priority = conditions.priority ?? priority
    guard options != nil || tellsFraction else {
      do throws(ImageCacheError) {
        tell(.image(try await cache.image(for: entity, format: format, options: conditions)))
      } catch { tell(.failure(error)) }
      return
    }
    var fraction = 0.0
    for await step in cache.progress(for: entity, format: format, options: conditions) {
      switch step {
      case .receiving(let count, of: let total?) where tellsFraction && total > 0:
        let new = min(Double(count) / Double(total), 1)
        // Each step has a view evaluate its body.
        guard abs(new - fraction) >= 0.05 else { continue }
        fraction = new
        tell(.fraction(new))
      case .preview(let image, _): tell(.preview(image))
      case .finished(let image): tell(.image(image))
      case .failed(let error): tell(.failure(error))
      default: continue
      }
    }
  }
}
