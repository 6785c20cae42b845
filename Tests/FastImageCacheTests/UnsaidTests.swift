import Testing

@testable import FastImageCache

@Suite("What is left to say", .timeLimit(.minutes(10)))
struct UnsaidTests {
  private var unsaid = Unsaid<Int>()

  @Test("is said in order, by one speaker")
  mutating func hasOneSpeaker() {
    for item in 1...3 { unsaid.append(item) }
    let first = unsaid.next(isSpeaking: false)
    let rival = unsaid.next(isSpeaking: false)
    #expect(first == 1 && rival == nil)
    unsaid.append(4)
    var rest: [Int] = []
    while let item = unsaid.next(isSpeaking: true) { rest.append(item) }
    #expect(rest == [2, 3, 4])
  }

  @Test("finds a speaker again after the last has ended")
  mutating func changesSpeakers() {
    let none = unsaid.next(isSpeaking: false)
    unsaid.append(1)
    let first = unsaid.next(isSpeaking: false)
    let end = unsaid.next(isSpeaking: true)
    unsaid.append(2)
    let second = unsaid.next(isSpeaking: false)
    #expect(none == nil && first == 1 && end == nil && second == 2)
  }
}
