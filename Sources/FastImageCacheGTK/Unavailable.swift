#if !(GTK && canImport(CGTK))
  public import FastImageCache

  // What this module has with the trait, so that a program without it learns what is missing.

  extension CachedImage {
    @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
    public func makeGdkTexture() -> OpaquePointer? { nil }
  }

  @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
  @MainActor public final class CachedImagePaintable {
    public init(format: ImageFormat) {}
  }

  @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
  @MainActor public final class CachedImageWidget<Entity: ImageEntity> {
    public init(format: ImageFormat, from cache: ImageCache) {}
    public init(formats: [ImageFormat], from cache: ImageCache) {}
    public init(family: String, from cache: ImageCache) {}
  }

  @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
  @MainActor public func makeImageFactory<Entity: ImageEntity>(
    format: ImageFormat, from cache: ImageCache, animated: Bool = true,
    entity: @escaping (Int) -> Entity?, alternativeText: @escaping (Entity) -> String?,
    makeCell: ((CachedImageWidget<Entity>) -> (OpaquePointer, (Entity?) -> Void))? = nil
  ) -> OpaquePointer? { nil }

  @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
  @MainActor public func makeImageFactory<Entity: ImageEntity>(
    formats: [ImageFormat], from cache: ImageCache, animated: Bool = true,
    entity: @escaping (Int) -> Entity?, alternativeText: @escaping (Entity) -> String?,
    makeCell: ((CachedImageWidget<Entity>) -> (OpaquePointer, (Entity?) -> Void))? = nil
  ) -> OpaquePointer? { nil }

  extension ImageCache {
    @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
    @MainActor public func reloadViews(of entity: some ImageEntity) {}
    @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
    @MainActor public func reloadViews(of id: ImageID) {}
    @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
    @MainActor public func reloadAllViews() {}
    @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
    @MainActor public static func retryFailedImages() {}
  }

  @available(*, unavailable, message: "Enable the package trait \"GTK\", on Linux.")
  public enum MainActorOnGLib {
    @MainActor public static func attach(priority: Int32 = 0) {}
  }
#endif
