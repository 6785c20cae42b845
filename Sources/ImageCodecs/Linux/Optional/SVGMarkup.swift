#if SVG && !canImport(ImageIO)
  /// What an SVG file would have librsvg do, told before librsvg reads it: what this does not know is refused.
  ///
  /// librsvg follows each `data:` address, and masks, markers and elements `use` draw others by reference, whose cost
  /// no size bounds.
  struct SVGMarkup {
    private static let elements: Set<String> = [
      "svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "defs",
      "symbol", "use", "linearGradient", "radialGradient", "stop", "clipPath", "title", "desc",
      "metadata", "style", "text", "tspan",
    ]
    private static let encodings: Set<String> = ["utf-8", "us-ascii", "iso-8859-1", "windows-1252"]
    private static let elementLimit = 20_000
    private static let depthLimit = 48
    private static let useLimit = 64
    private static let clipLimit = 16
    private static let selectorLimit = 500

    private struct Element {
      let name: String
      /// The prefixes of namespaces that it declares.
      var prefixes: Set<String> = []
      var ids: [String] = []

      var isStyle: Bool { name == "style" || name == "svg:style" }
    }

    /// Elements within each other, at most.
    private(set) var depth = 0
    /// Elements that draw others once more.
    private(set) var useCount = 0
    private var clipCount = 0
    private var selectorCount = 0
    private var elementCount = 0
    private var open: [Element] = []
    private var entities = SVGEntities()
    /// The text of the `style` element that is open: comments do not part its words.
    private var style = ""
    /// The names of elements that are or hold a `use`, and those that one draws.
    private var namesWithUse: Set<String> = []
    private var usedNames: Set<String> = []

    /// - Throws: ``ImageDecodingError/unsupported(_:)`` and ``ImageDecodingError/tooLarge(_:)`` for what is refused,
    ///   ``ImageDecodingError/truncated`` where a tag does not end.
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) {
      guard !bytes.contains(0) else { throw Self.refused("text that is not UTF-8") }
      var text = SVGText(bytes)
      while let content = text.content() {
        add(content)
        if text.take("!--") {
          try text.pass("-->")
        } else if text.take("![CDATA[") {
          add(try text.pass("]]>"))
        } else if text.take("!DOCTYPE") {
          try entities.read(&text)
        } else if text.take("!") {
          throw Self.refused("a declaration")
        } else if text.take("?") {
          try Self.check(instruction: try text.pass("?>"))
        } else if text.take("/") {
          try close(try text.pass(">"))
        } else {
          try read(&text)
        }
      }
      guard elementCount > 0 else { throw .damaged("SVG: a file without an element") }
      guard open.isEmpty else { throw .truncated }
      // So the depth of what is drawn is at most twice that of the file.
      guard usedNames.isDisjoint(with: namesWithUse) else {
        throw Self.refused("an element \"use\" that draws another")
      }
    }

    private static func refused(_ what: String) -> ImageDecodingError {
      .unsupported("SVG: \(what)")
    }

    private mutating func add(_ content: String) {
      if open.last?.isStyle == true { style += content }
    }

    private mutating func read(_ text: inout SVGText) throws(ImageDecodingError) {
      guard open.last?.isStyle != true else { throw Self.refused("an element within \"style\"") }
      var element = Element(name: text.name())
      var attributes: [(prefix: String?, name: String, value: String)] = []
      var isEmpty = false
      text.skipSpace()
      while !text.take(">") {
        if text.take("/>") {
          isEmpty = true
          break
        }
        let (prefix, name) = try Self.parts(of: text.name())
        text.skipSpace()
        guard text.take("=") else { throw .damaged("SVG: an attribute without a value") }
        text.skipSpace()
        guard let raw = try text.quoted() else { throw .damaged("SVG: a value without quotes") }
        text.skipSpace()
        let value = try entities.resolve(raw)
        if prefix == "xmlns" || (prefix == nil && name == "xmlns") {
          try Self.check(namespace: value, prefix: prefix == nil ? nil : name)
          if prefix != nil { element.prefixes.insert(name) }
        } else {
          attributes.append((prefix, name, value))
        }
      }

      open.append(element)
      let (prefix, name) = try Self.parts(of: element.name)
      if prefix == nil || prefix == "svg" {
        guard Self.elements.contains(name) else { throw Self.refused("an element \"\(name)\"") }
        for attribute in attributes where !isOther(attribute.prefix) || attribute.name == "href" {
          try check(attribute.name, attribute.value, isUse: name == "use")
        }
        if name == "use" {
          useCount += 1
          for holder in open { namesWithUse.formUnion(holder.ids) }
        }
      } else if !isOther(prefix) {
        throw Self.refused("a prefix that is not declared")
      }
      elementCount += 1
      depth = max(depth, open.count)
      try checkCounts()
      if isEmpty { try close(element.name) }
    }

    private func checkCounts() throws(ImageDecodingError) {
      guard
        depth <= Self.depthLimit, useCount <= Self.useLimit, clipCount <= Self.clipLimit,
        selectorCount <= Self.selectorLimit, elementCount <= Self.elementLimit
      else {
        throw .tooLarge(
          "SVG: more than \(Self.elementLimit) elements, \(Self.depthLimit) within each other, "
            + "\(Self.useLimit) elements \"use\", \(Self.clipLimit) clips or "
            + "\(Self.selectorLimit) selectors.")
      }
    }

    private mutating func close(_ tag: String) throws(ImageDecodingError) {
      guard let element = open.popLast(), tag.split(separator: " ").first ?? "" == element.name
      else {
        throw .damaged("SVG: an end of another element")
      }
      guard element.isStyle else { return }
      let rules = try SVGStyle(style, hasRules: true)
      style = ""
      clipCount += rules.clipCount
      selectorCount += rules.selectorCount
      try checkCounts()
    }

    /// Whether librsvg ignores names of this prefix. It takes one that is not declared for SVG's.
    private func isOther(_ prefix: String?) -> Bool {
      guard let prefix, prefix != "svg" else { return false }
      return prefix == "xml" || open.contains { $0.prefixes.contains(prefix) }
    }

    private mutating func check(
      _ name: String, _ value: String, isUse: Bool
    ) throws(ImageDecodingError) {
      switch name {
      case "id": open[open.count - 1].ids.append(value)
      case "href":
        guard value.hasPrefix("#"), !value.dropFirst().contains(where: { "#&%".contains($0) })
        else {
          throw Self.refused("an address outside of the file")
        }
        if isUse { usedNames.insert(String(value.dropFirst())) }
      case "style": clipCount += try SVGStyle(value, hasRules: false).clipCount
      case let name where SVGStyle.refusedProperties.contains(name):
        guard value == "none" else { throw Self.refused("an attribute \"\(name)\"") }
      default:
        if name == "clip-path" { clipCount += 1 }
        guard !value.contains("&#"), !value.contains("\\") else {
          throw Self.refused("a character by its number")
        }
        try SVGStyle.checkAddresses(Array(value.lowercased().utf8))
      }
    }

    /// Of a prefix that is SVG's or XInclude's, or that libxml2 does not bind, librsvg reads the elements.
    private static func check(namespace: String, prefix: String?) throws(ImageDecodingError) {
      var refusedParts = ["&", "XInclude"]
      if let prefix {
        refusedParts += ["XML/1998", "2000/xmlns"] + (prefix == "svg" ? [] : ["2000/svg"])
      }
      guard !refusedParts.contains(where: { namespace.contains($0) }), prefix != "xmlns",
        prefix == nil || !namespace.isEmpty
      else { throw refused("a namespace \"\(namespace)\"") }
    }

    private static func parts(
      of name: String
    ) throws(ImageDecodingError) -> (prefix: String?, name: String) {
      let parts = name.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count <= 2, !parts.contains("") else { throw .damaged("SVG: a name \"\(name)\"") }
      return (parts.count == 2 ? parts[0] : nil, parts[parts.count - 1])
    }

    /// Another encoding could hide tags, and a style sheet has an address.
    private static func check(instruction: String) throws(ImageDecodingError) {
      guard !instruction.hasPrefix("xpacket ") else { return }
      let declaration =
        /xml +version *= *["'][0-9.]+["']( +encoding *= *["']([\w.\-]+)["'])?( +standalone *= *["']\w+["'])? */
      guard let match = instruction.wholeMatch(of: declaration) else {
        throw refused("an instruction")
      }
      guard let encoding = match.2 else { return }
      guard encodings.contains(encoding.lowercased()) else {
        throw refused("text in \"\(encoding)\"")
      }
    }
  }
#endif
