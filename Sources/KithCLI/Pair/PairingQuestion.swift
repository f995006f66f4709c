import Kith

/// Which digits a person is asked about while two devices pair, and what a line says of them.
struct PairingQuestion {
    /// What follows from a line.
    enum Step: Equatable {
        /// There are no digits that nobody has answered.
        case nothingToCompare
        /// The line is no answer; these words ask again.
        case askAgain(String)
        case answer(isSame: Bool, to: PairingCode)
    }

    /// The digits on the screen that nobody has answered.
    private var asked: PairingCode?
    /// How many times digits were shown: a line that was typed for some may arrive once others are on the screen.
    private var shown = 0

    mutating func show(_ code: PairingCode) {
        asked = code
        shown += 1
    }

    mutating func withdraw() { asked = nil }

    mutating func take(_ line: String) -> Step {
        guard let code = asked else { return .nothingToCompare }
        guard let isSame = Self.answer(line, to: code, takesYes: shown == 1) else {
            return .askAgain(
                shown == 1
                    ? "Please answer yes or no: "
                    : "Other digits were shown before. Please type the six digits that the other screen shows, or no: ")
        }
        asked = nil
        return .answer(isSame: isSame, to: code)
    }

    /// Yes, no, or the digits of the other screen; `nil` for anything else.
    ///
    /// - Parameter takesYes: whether a mere "yes" can be meant for these digits alone.
    private static func answer(_ line: String, to code: PairingCode, takesYes: Bool) -> Bool? {
        let words = line.utf8.filter { $0 > 0x20 }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        switch String(decoding: words, as: UTF8.self) {
        case "y", "yes": return takesYes ? true : nil
        case "n", "no": return false
        default:
            guard words.count == 6, words.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return words.elementsEqual(code.digits.utf8)
        }
    }
}
