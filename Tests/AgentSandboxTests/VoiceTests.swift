import AudioPipeline
import Testing

@testable import AgentSandbox

@Suite struct VoiceTests {
    @Test func speaksWithWordsInTheirPlace() async throws {
        let text = "We are open from nine in the morning until six in the evening."
        let utterance = try await SpeechSynthesizer.shared.speak(text, voice: AgentVoice())
        let seconds = Double(utterance.samples.count) / Double(AudioFormat.sampleRate)
        #expect((2.0...8.0).contains(seconds))
        #expect(AudioLevel.decibels(utterance.samples) > -35)
        #expect(utterance.words.map(\.text).joined() == text)
        #expect(utterance.words.count == 13)
        #expect(utterance.words.map(\.start) == utterance.words.map(\.start).sorted())
        // The words spread over the sentence.
        let half = utterance.words.count { $0.start < utterance.samples.count / 2 }
        #expect((4...9).contains(half))
    }

    @Test func severalSpeakAtOnce() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await SpeechSynthesizer.shared.speak("number \(number)", voice: AgentVoice()).samples.count
                }
            }
            for try await count in group { #expect(count > 10_000) }
        }
    }

    @Test func anUnknownVoiceIsNamed() async {
        var voice = AgentVoice()
        voice.name = "no-such-voice"
        await #expect { try await SpeechSynthesizer.shared.speak("hello", voice: voice) } throws: { error in
            "\(error)".contains("no-such-voice")
        }
    }

    @Test func wordsKeepTheirBlanks() {
        #expect(Utterance.split("We are  open. ") == ["We", " are", "  open. "])
        #expect(Utterance.split("") == [])
        #expect(Utterance.split("   ") == [])
        #expect(Utterance.split("Žluťoučký 🐎") == ["Žluťoučký", " 🐎"])
    }

    @Test func wordsWithoutMarksSpreadEvenly() {
        let words = Utterance.timed("a b c d", marks: [], duration: 400)
        #expect(words.map(\.start) == [0, 100, 200, 300])
    }

    @Test func aWordWithoutAMarkGoesWithTheOneBefore() {
        let words = Utterance.timed("one 1 two", marks: [(0, 10), (6, 50)], duration: 100)
        #expect(words.map(\.start) == [10, 10, 50])
    }
}
