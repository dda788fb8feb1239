extension AgentScript {
    /// The script of the sandbox's agent where no other is given; what ``defaultYAML`` says.
    public static let `default`: AgentScript = {
        var script = AgentScript()
        script.turns = [
            Turn(
                expect: "Hello, what are your opening hours today?",
                reply: "We are open from nine in the morning until six in the evening."),
            Turn(expect: "Thank you, goodbye.", reply: "You are welcome. Goodbye!"),
        ]
        return script
    }()

    /// The text of `config/sandbox-agent.yaml`, so that a program that is run from anywhere can show it.
    public static let defaultYAML = """
        # What the agent of `agentctl sandbox` says, and how it behaves. Every key may be left out; these are the defaults, but a
        # script without turns has none: everything is answered with the fallback.
        # Another script: agentctl sandbox --script FILE

        identity: agent-sandbox
        name: Sandbox agent

        # The name that a token has to ask for; empty for an agent that comes to every room.
        agent_name: ""

        # A voice of espeak-ng (`espeak-ng --voices` lists them), words a minute (80 to 450), pitch (0 to 100).
        voice: en-us
        words_per_minute: 165
        pitch: 45

        # Said as soon as the user can hear the agent; empty for none.
        greeting: ""

        # true: play back what the user said instead of answering.
        echo: false

        # Stop talking when the user does.
        interruptible: true

        # The user's turn ends after so long a silence, in ms.
        end_of_turn: 600

        # Send the legacy Transcription packets beside the text streams, as LiveKit's agents do.
        legacy_transcription: true

        # Spoken turns, in order. The agent does not recognise speech: it transcribes what it expects, thinks for so many ms,
        # and replies. A chat message gets the reply of the turn whose words it holds.
        turns:
          - expect: Hello, what are your opening hours today?
            reply: We are open from nine in the morning until six in the evening.
            think: 200
          - expect: Thank you, goodbye.
            reply: You are welcome. Goodbye!
            think: 200

        # When no turn is left: what is transcribed, and what is replied.
        fallback_transcript: (speech)
        fallback: Sorry, I have nothing more to say.

        """
}
