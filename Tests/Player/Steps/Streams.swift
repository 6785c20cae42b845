import FastImageCache
import Foundation

extension Step {
  /// Requests whose steps are followed.
  static let streams: [Step] = [
    Step(
      "progress",
      [
        "ImageCache.progress(for:format:options:)", "LoadOptions.previews",
        "PreviewPolicy.init(kinds:)", "PreviewPolicy.delay", "PreviewPolicy.limit",
        "PreviewPolicy.kinds",
      ], weight: 3
    ) { turn in
      let options = turn.options()
      let horizon = turn.horizon()
      // Not followed to its end, now and then.
      let patience = turn.chance(1, in: 4) ? 2 : Int.max
      var (count, previews, isOver) = (0, 0, false)
      await turn.call("progress") {
        for await step in turn.cache.progress(
          for: turn.entity, format: turn.format, options: options)
        {
          turn.expect(!isOver, "a step after the last one")
          switch step {
          case .preview(let image, let preview):
            previews += 1
            turn.finds.count("previews")
            // What can be read of it is the picture's.
            if let mark = Mark(image) {
              if preview.isOfLoad { turn.see(image, since: horizon, "a preview") }
              turn.expect(
                mark.subject == turn.entity.subject.number, .wrongPicture, "\(preview): \(mark)")
            }
          case .finished(let image):
            isOver = true
            turn.see(image, since: horizon, "followed, \(options)")
          case .failed(let error):
            isOver = true
            turn.note(error, options)
          default: break
          }
          count += 1
          if count >= patience { break }
        }
      }
      turn.expect(isOver || count >= patience, "a stream without an end")
      if options.previews.kinds.isEmpty == false {
        turn.expect(
          previews <= options.previews.limit + 2, .wrongCount, "\(previews) previews, \(options)")
      }
    },

    Step(
      "updates",
      [
        "ImageCache.updates(for:format:options:)", "ImageUpdates.makeAsyncIterator()",
        "ImageUpdates.Iterator.next(isolation:)",
      ],
      weight: 2
    ) { turn in
      let options = turn.options()
      let horizon = turn.horizon()
      var last: CachedImage?
      do {
        try await turn.call("updates") {
          for try await image in turn.cache.updates(
            for: turn.entity, format: turn.format, options: options)
          {
            last = image
          }
        }
        if let last { turn.see(last, since: horizon, "the last update, \(options)") }
        turn.expect(last != nil, "no update")
      } catch { turn.note(error, options) }
    },

    Step("progress given up", []) { turn in
      let options = turn.options()
      let horizon = turn.horizon()
      let task = Task {
        var last: ImageProgress?
        for await step in turn.cache.progress(
          for: turn.entity, format: turn.format, options: options)
        {
          last = step
        }
        return last
      }
      await turn.rest()
      task.cancel()
      let last = await turn.call("a stream that is given up") { await task.value }
      switch last {
      case .finished(let image): turn.see(image, since: horizon)
      case .failed(let error): turn.note(error, options, isCancelled: true)
      default: turn.nothing()
      }
    },
  ]
}

extension ImagePreview {
  /// Whether it shows what the load brings, and not what stands in for that.
  fileprivate var isOfLoad: Bool {
    switch kind {
    case .frame, .rows, .embedded: true
    default: false
    }
  }
}
