import FastImageCache
import Foundation
import Locking

extension Step {
  /// Sources, asked without a cache.
  static let sources: [Step] = [
    Step(
      "source", ["URLImageSource.response(to:)", "ImageSource.response(to:)"],
      need: .entity { $0.subject.scheme != .own }
    ) { turn in
      let (entity, horizon) = (
        turn.entity, Model.Horizon.anything.asking(at: turn.world.timeline.tick())
      )
      guard let url = entity.sourceURL(for: turn.format) else { return turn.nothing() }
      let source = turn.session.plan.wiring.source(
        in: turn.world, .played(resumes: true, patience: turn.world.sourcePatience))
      var request = ImageSourceRequest(url: url)
      request.account = entity.accountID
      do {
        let response = try await turn.call("response(to:)") {
          try await source.response(to: request)
        }
        turn.expect((response.bitmap == nil) != (response.encodedData == nil), "\(response)")
        let mark = response.mark
        let objection = turn.model.objection(to: mark, of: entity, since: horizon)
        // A flaky server's answer may be no image.
        turn.expect(
          objection == nil || mark == nil && !entity.subject.isSteady, .wrongPicture,
          "\(objection ?? "") by itself")
        if [.play, .nested].contains(entity.subject.scheme) {
          turn.expect(
            response.metadata == Data("\(entity.subject.number)".utf8),
            "metadata of \(response.metadata?.count ?? 0) bytes")
        }
      } catch { turn.expect(!entity.subject.isSteady, "\(error)") }
    },

    Step(
      "chain of closures",
      [
        "ClosureImageSource.init(_:)", "ClosureImageSource.response(to:)",
        "ImageSource.closure(_:)", "ImageSourceChain.init(_:)",
        "ImageSourceChain.response(to:)", "ImageSourceProgress.Retry.attempt",
        "ImageSourceProgress.Retry.init(attempt:pause:)", "ImageSourceProgress.Retry.pause",
        "ImageSourceProgress.expectedByteCount",
        "ImageSourceProgress.init(receivedByteCount:expectedByteCount:)",
        "ImageSourceProgress.receivedByteCount", "ImageSourceProgress.retry",
        "ImageSourceRequest.init(url:priority:byteCountLimit:progress:)",
        "ImageSourceRequest.report(_:)", "ImageSourceRequest.with(url:)",
        "ImageSourceResponse.bitmap(_:)", "ImageSourceResponse.encoded(_:)",
        "ImageSourceResponse.with(metadata:)",
      ], need: .cache
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: turn.number % 1_000)
      let isBitmap = turn.chance(1, in: 2)
      guard let (one, two) = addresses(of: turn.number) else { return turn.nothing() }
      var progress = ImageSourceProgress(receivedByteCount: turn.roll(100), expectedByteCount: 99)
      progress.retry = ImageSourceProgress.Retry(attempt: 1, pause: .milliseconds(turn.roll(9)))
      let told = Lock<[ImageSourceProgress]>([])
      let second = ClosureImageSource { [progress] request in
        guard request.url == two else { throw ImageSourceError.notFound(path: request.url.path) }
        request.report(progress)
        let response: ImageSourceResponse =
          isBitmap
          ? .bitmap(try mark.bitmap()) : .encoded(try turn.world.files.data(of: mark, .webp))
        return response.with(metadata: Data(request.url.path.utf8))
      }
      let chain = ImageSourceChain([
        .closure { throw ImageSourceError.unsupportedScheme($0.url.scheme ?? "") },
        .closure { try await second.response(to: $0.with(url: two)) },
      ])
      let request = ImageSourceRequest(url: one, priority: .high, byteCountLimit: 1 << 20) { step in
        told.withLock { $0.append(step) }
      }
      let response = try await turn.call("a chain's response(to:)") {
        try await chain.response(to: request)
      }
      turn.expect(response.mark == mark, .wrongPicture, "\(mark) in a chain")
      turn.expect((response.bitmap != nil) == isBitmap, "\(response)")
      turn.expect(response.metadata == Data(two.path.utf8), "other metadata")
      let steps = told.withLock { $0 }
      turn.expect(steps == [progress], .wrongCount, "\(steps)")
      turn.expect(
        steps.first.map {
          $0.receivedByteCount < 100 && $0.expectedByteCount == 99 && $0.retry?.attempt == 1
            && $0.retry?.pause ?? .seconds(1) < .milliseconds(9)
        } ?? false, "\(steps)")
    },
  ]

  private static func addresses(of number: Int) -> (URL, URL)? {
    guard let one = URL(string: "chain:/\(number)"), let two = URL(string: "link:/\(number)")
    else { return nil }
    return (one, two)
  }
}

extension ImageSourceResponse {
  /// What its pixels show, decoded where that is needed.
  var mark: Mark? {
    (bitmap ?? encodedData.flatMap { try? Bitmap(decoding: $0) }).flatMap(Mark.init)
  }
}
