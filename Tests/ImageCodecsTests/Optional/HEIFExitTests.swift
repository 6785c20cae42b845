#if HEIF && !canImport(ImageIO)
  import Foundation
  import Testing

  @testable import ImageCodecs

  @Suite("A process that ends", .timeLimit(.minutes(10)))
  struct HEIFExitTests {
    @Test("waits for a decode of HEIF that is under way, and refuses others")
    func waitsAndRefuses() async {
      await #expect(processExitsWith: .exitCode(7)) {
        // The decode takes longer than the rest of exit(3).
        let image = Fixture.heif(DrawnImage.slopes(500, 400))
        @Sendable func isRefused() -> Bool {
          do {
            _ = try header(of: image)
            return false
          } catch {
            return error == .cancelled
          }
        }
        await withCheckedContinuation { isDecoding in
          Thread.detachNewThread {
            _ = try? decode(image) {
              // Asked again, after libheif's part of the decode.
              if isRefused() { _exit(7) }
              isDecoding.resume()
              while !isRefused() {}
              return false
            }
          }
        }
        exit(3)
      }
    }
  }
#endif
