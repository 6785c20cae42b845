#if GTK && canImport(CGTK)
  // A client has what all toolkits share, such as `reloadViews(of:)`, by importing this module.
  @_exported public import ImageViewing
#endif
