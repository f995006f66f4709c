/// A key that a person pressed.
enum Key: Hashable {
    case character(Character)
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, escape, backspace
    /// With Ctrl: the letter.
    case control(Character)
}
