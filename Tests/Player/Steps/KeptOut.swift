extension Step {
  /// Lines of the API file that no step proves: names, beginnings that end with a full stop, and ends that begin with one.
  package static let keptOut: [(names: String, reason: String)] = [
    ("Canvas.Color.", "a value: tests of drawing compare colours"),
    ("Canvas.Path.", "a value: tests of drawing compare each path's pixels"),
    ("Canvas.Point.", "a value"),
    ("Canvas.Rect.", "a value"),
    ("Canvas.Size.", "a value"),
    ("Drawing.Alignment.", "a value"),
    ("EncodedColors.Ground.", "a value"),
    ("PixelSize.", "a value"),
    ("PixelLayout.", "a value"),
    (".init(rawValue:)", "a value from its name or bits"),
    ("ImageFormat.==(_:_:)", "compares values"),
    ("ImageFormat.hash(into:)", "compares values"),
    ("ImageCacheError.==(_:_:)", "compares values"),
    (".init(from:)", "a value from a file of settings"),
    (".encode(to:)", "a value for a file of settings"),
    ("DecodeRequest.init(minimumSize:limits:isCancelled:)", "for tests of a program's decoder"),
    ("DecodedPreview.", "what a program's progressive decoder answers with"),
    ("PreviewScanner.", "a program's progressive decoder"),
    ("PreviewStage.", "what a program's progressive decoder is asked"),
    ("ProgressiveImageDecoder.", "a program's progressive decoder"),
    ("Canvas.withNativeContext(_:)", "lends a cairo_t, and the walk does without Cairo"),
    ("CachedImage.makeCairoSurface()", "only Cairo can release it, and the walk does without"),
    ("HTTPOptions.lowestByteRate", "an average of 30 seconds, which is longer than calls may take"),
    ("ImageEntity.lowDataURL(for:)", "asked where the system tells networks apart: not on Linux"),
  ]

  /// The cells of the coverage that stay empty: steps and options, the kinds of sources that they do not meet, and why.
  package static let emptyCells: [(names: [String], kinds: [String], reason: String)] = [
    (
      ["a URL as entity", "bytes", "remove an original", "source"], ["entity"],
      "an entity that brings its picture has no address"
    ),
    (
      ["changed picture"], ["data"],
      "a data URL is its picture: the step \"changed data\" has another URL"
    ),
    (
      ["changed data"], ["file", "http", "closure", "nested", "entity"],
      "their pictures change where they are: the step \"changed picture\""
    ),
    (["another version"], ["data"], "a data URL is its own version"),
    (["another version"], ["nested"], "a closure stands for it: the entity names the version"),
    (
      ["together"], ["file", "data", "closure", "nested", "entity"],
      "it counts what a server was asked, alone and in a chain"
    ),
    (
      ["account", "picture by hand for an account", "sign out"],
      ["file", "data", "nested", "entity"],
      "servers and closures tell accounts apart; the others show all the same picture"
    ),
    (["headers"], ["data", "nested"], "no server is asked"),
    (["allows…NetworkAccess"], ["data", "nested"], "no network is reached"),
  ]

  /// What the walk leaves out until the library does it: a line each, which goes with the fault.
  package static let leftOut: [String] = [
    "Originals in a folder that is read-only for a while: their store is given up until the process ends.",
    "Still and moving formats of one family: the first frame of an animation may stand for its picture.",
  ]

  /// Why no step has to prove a line; `nil` where one has to.
  package static func reason(forKeepingOut name: String) -> String? {
    keptOut.first { covers($0.names, name) }?.reason
  }

  package static func covers(_ names: String, _ name: String) -> Bool {
    if names.hasSuffix(".") { return name.hasPrefix(names) }
    return names.hasPrefix(".") ? name.hasSuffix(names) : names == name
  }

  /// The names of each step's lines.
  package static var allCalls: [(step: String, calls: [String])] { all.map { ($0.name, $0.calls) } }
}
