import Kith

/// What the screen shows and the person answers while two devices pair.
actor PairingDialogue {
    private let pairing: Pairing
    private let screen: PairingScreen
    private var question = PairingQuestion()
    private var last: PairingEvent?
    /// Whether somebody has answered the digits that were shown last.
    private(set) var hasAnswer = false
    /// Whether nobody can answer any more.
    private(set) var isWithoutInput = false
    /// The signal that has stopped it.
    private(set) var signal: Int32?

    init(_ pairing: Pairing, _ screen: PairingScreen) {
        self.pairing = pairing
        self.screen = screen
    }

    func show(_ event: PairingEvent) {
        // What is tried again and again is said once.
        guard event != last else { return }
        last = event
        if case .compare(let code) = event {
            question.show(code)
            hasAnswer = false
        } else if case .failed = event {
            question.withdraw()
            hasAnswer = false
        }
        screen.show(event)
    }

    /// A line from the person. What is typed before there are digits to compare means nothing.
    func take(_ line: String) async {
        switch question.take(line) {
        case .nothingToCompare: screen.say("There is nothing to compare yet.")
        case .askAgain(let words): screen.ask(words)
        case .answer(let isSame, let code):
            hasAnswer = true
            await pairing.answer(isSame: isSame, to: code)
            if isSame { screen.say("Waiting for the answer at the other machine.") }
        }
    }

    func inputIsOver() {
        isWithoutInput = true
    }

    func isStopped(by number: Int32) {
        signal = number
    }
}
