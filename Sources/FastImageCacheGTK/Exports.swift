#if GTK && canImport(CGTK)
  // A client has what all toolkits share, such as `lookAgain(inViewsOf:)`, by importing this module.
  @_exported public import ImageViewing
#endif
