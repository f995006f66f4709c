import Kith

/// What the screen shows and the person answers while two devices pair.
actor PairingDialogue {
    private let pairing: Pairing
    private let screen: PairingScreen
    /// The digits on the screen that nobody has answered.
    private var asked: PairingCode?
    private var last: PairingEvent?
    /// How many digits have been shown: what was typed for the first ones may arrive once others are on the screen.
    private var shown = 0
    /// Whether somebody has answered the digits that were shown last.
    private(set) var hasAnswer = false
    /// Whether nobody can answer any more.
    private(set) var isWithoutInput = false

    init(_ pairing: Pairing, _ screen: PairingScreen) {
        self.pairing = pairing
        self.screen = screen
    }

    func show(_ event: PairingEvent) {
        // What is tried again and again is said once.
        guard event != last else { return }
        last = event
        if case .compare(let code) = event {
            asked = code
            hasAnswer = false
            shown += 1
        } else if case .failed = event {
            asked = nil
            hasAnswer = false
        }
        screen.show(event)
    }

    /// A line from the person. What is typed before there are digits to compare means nothing.
    func take(_ line: String) async {
        guard let asked else { return screen.say("There is nothing to compare yet.") }
        guard let isSame = Self.answer(line, to: asked) else { return screen.ask("Please answer yes or no: ") }
        if isSame, shown > 1, !Self.names(line, asked) {
            return screen.ask("Other digits were shown before. Type the six digits that the other screen shows, or no: ")
        }
        self.asked = nil
        hasAnswer = true
        await pairing.answer(isSame: isSame, to: asked)
        if isSame { screen.say("Waiting for the answer at the other machine.") }
    }

    func inputIsOver() {
        isWithoutInput = true
    }

    /// Whether the line is the digits themselves.
    private static func names(_ line: String, _ code: PairingCode) -> Bool {
        line.utf8.filter { $0 > 0x20 }.elementsEqual(code.digits.utf8)
    }

    /// Yes, no, or the digits of the other screen; `nil` for anything else.
    static func answer(_ line: String, to code: PairingCode) -> Bool? {
        let words = line.utf8.filter { $0 > 0x20 }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        switch String(decoding: words, as: UTF8.self) {
        case "y", "yes": return true
        case "n", "no": return false
        default:
            guard words.count == 6, words.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return words.elementsEqual(code.digits.utf8)
        }
    }
}
