#if !canImport(ImageIO)
  import CTestProbes
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite(
    "The memory for a profile", .enabled(if: probe_counts_allocations() == 1),
    .timeLimit(.minutes(10)))
  struct ColorMemoryTests {
    @Test("that lacks is not taken for a broken profile, neither then nor later")
    func isNotBlamedOnProfiles() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let profiles: [(Data, LCMSConversion.Kind)] = [
          (Fixture.displayP3, .rgb), (Fixture.cmyk, .cmyk), (Fixture.linearGray, .gray),
        ]
        for (profile, kind) in profiles {
          var refusals = 0
          // The arrays of Swift are smaller.
          for limit in stride(from: 4 << 10, to: 1 << 20, by: 4 << 10) {
            probe_refuse_allocations(limit)
            do throws(ImageDecodingError) {
              guard try LCMSConversion.shared(profile: profile, kind: kind) != nil else { exit(2) }
            } catch {
              guard error == .outOfMemory else { exit(3) }
              refusals += 1
            }
            probe_refuse_allocations(.max)
          }
          guard refusals > 0 else { exit(4) }
          guard try LCMSConversion.shared(profile: profile, kind: kind) != nil else { exit(5) }
        }
        exit(7)
      }
    }

    @Test("that lacks for the way to Display P3 is said before a row is converted")
    func isAskedForEarly() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let made = try LCMSConversion(profile: Fixture.adobeRGB, kind: .rgb)
        guard let made, made.prepare(for: .sRGB) else { exit(2) }
        probe_refuse_allocations(4 << 10)
        let isRefused = !made.prepare(for: .displayP3)
        probe_refuse_allocations(.max)
        exit(isRefused && made.prepare(for: .displayP3) ? 7 : 3)
      }
    }

    @Test("that lacks fails the decode, and the next one has its colours")
    func failsDecodes() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let size = PixelSize(width: 16, height: 16)
        let yellow = (0..<256).flatMap { _ -> [UInt8] in [255, 255, 0, 255] }
        let jpeg = Fixture.jpeg(size, yellow, .init(profile: Fixture.cmyk))
        // The table of inks is larger; what libjpeg takes for this image is smaller.
        probe_refuse_allocations(256 << 10)
        do throws(ImageDecodingError) {
          _ = try JPEGDecoder().decode(jpeg, DecodeRequest())
          exit(2)
        } catch {
          guard error == .outOfMemory else { exit(3) }
        }
        probe_refuse_allocations(.max)
        // In this profile yellow takes no light away, unlike in the rule for files without one.
        exit(try decode(jpeg).pixel(8, 8)[0] > 240 ? 7 : 4)
      }
    }

    @Test("is not what the profile claims to have")
    func isBounded() throws {
      _ = probe_largest_allocation()
      #expect(try LCMSConversion(profile: Fixture.claim, kind: .cmyk) == nil)
      #expect(probe_largest_allocation() < 8 << 20)
    }
  }
#endif
