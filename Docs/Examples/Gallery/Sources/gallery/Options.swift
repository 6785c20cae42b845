import Foundation

/// How cells get their images.
enum Way: String, CaseIterable {
  case table, thumbnails, originals
  /// Animations of a folder of their own, from a table with all their frames. The list stands still.
  case stickers
  /// Cells without an image: what the window costs by itself.
  case empty

  /// Of its button; the underscore is before the letter of its key.
  var title: String {
    switch self {
    case .table: "_Image table"
    case .thumbnails: "_Thumbnails"
    case .originals: "_Originals"
    case .stickers: "_Stickers"
    case .empty: "Empty"
    }
  }
}

/// What the command line says.
struct Options {
  var folder = URL(filePath: "/usr/share/backgrounds")
  var cache = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
    .appending(path: "fastimagecache-gallery")
  var way = Way.table
  /// Animations; without them the window asks for their folder.
  var stickers: URL?
  /// Ends by itself after so many seconds of scrolling.
  var seconds: Double?
  var printsJSON = false
  /// Cells of the list, and how many of them have images of their own.
  var cellCount = 50_000
  var imageCount = 1000
  /// Points that the list moves in a second.
  var speed = 3600.0
  /// Thumbnails are decoded by GTK's own loader instead of gdk-pixbuf.
  var usesGTKLoader = false
  /// Files are decoded when the list binds a cell, which may never come into view.
  var fillsOnBind = false
  /// Begins with an empty table.
  var misses = false
  /// Where an image of the window is written at the end, and of stickers at three moments.
  var screenshot: URL?

  static let usage = """
    Scrolls a folder of photographs in a window: through image tables, through thumbnail files, and by decoding \
    the originals.

    Usage: gallery [FOLDER] [--way table|thumbnails|originals|stickers|empty] [--seconds N] [--json] [--misses]
                   [--gtk-loader] [--on-bind] [--stickers DIR]
                   [--cells N] [--pictures N] [--speed POINTS] [--cache DIR] [--screenshot FILE.png]

      FOLDER             photographs; /usr/share/backgrounds if it is left out
      --way WAY          begins with this way (table); buttons of the window change it
      --stickers DIR     a folder of animated PNG and WebP files, for the way "stickers"; its button asks for one otherwise
      --seconds N        scrolls for so long, prints what was measured, and ends
      --json             prints it as one JSON object on the last line
      --misses           empties the table first, so that each image is a miss once
      --gtk-loader       decodes thumbnails by GTK's own loader instead of gdk-pixbuf
      --on-bind          decodes files when a cell is bound, instead of when it can be seen
      --cells N          cells of the list (50000), of which photographs repeat
      --pictures N       photographs of their own in the table and as thumbnails (1000)
      --speed POINTS     points by which the list moves in a second (3600)
      --cache DIR        tables and thumbnails; a folder of the user's cache if it is left out
      --screenshot FILE  writes an image of the window at the end; of stickers, at three moments to FILE-1.png,
                         FILE-2.png and FILE-3.png
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Refusal("\(option) needs a value.") }
      return value
    }
    func number<Number: LosslessStringConvertible & Comparable & ExpressibleByIntegerLiteral>(
      of option: String
    ) throws -> Number {
      let text = try value(of: option)
      guard let number = Number(text), number > 0 else {
        throw Refusal("\(option) needs a positive number, not \"\(text)\".")
      }
      return number
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--way":
        let name = try value(of: argument)
        guard let way = Way(rawValue: name) else { throw Refusal("There is no way \"\(name)\".") }
        self.way = way
      case "--stickers": stickers = URL(filePath: try value(of: argument))
      case "--seconds": seconds = try number(of: argument)
      case "--json": printsJSON = true
      case "--misses": misses = true
      case "--gtk-loader": usesGTKLoader = true
      case "--on-bind": fillsOnBind = true
      case "--cells": cellCount = try number(of: argument)
      case "--pictures": imageCount = try number(of: argument)
      case "--speed": speed = try number(of: argument)
      case "--cache": cache = URL(filePath: try value(of: argument))
      case "--screenshot": screenshot = URL(filePath: try value(of: argument))
      case "--help":
        print(Self.usage)
        exit(0)
      case _ where argument.hasPrefix("-"): throw Refusal("There is no option \"\(argument)\".")
      default: folder = URL(filePath: argument)
      }
    }
    if way == .stickers, stickers == nil { throw Refusal("The way stickers needs --stickers.") }
    if printsJSON, seconds == nil { throw Refusal("--json needs --seconds.") }
  }
}

/// A sentence for the user.
struct Refusal: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
