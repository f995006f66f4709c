/// The color of a note. A number that only a newer version knows is kept as it is.
public struct NoteColor: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// No color.
    public static let none = NoteColor(rawValue: 0)
    /// Yellow.
    public static let yellow = NoteColor(rawValue: 1)
    /// Green.
    public static let green = NoteColor(rawValue: 2)
    /// Blue.
    public static let blue = NoteColor(rawValue: 3)
    /// Red.
    public static let red = NoteColor(rawValue: 4)

    /// The colors that have a name, with their names.
    public static let named: [(color: NoteColor, name: String)] = [
        (none, "none"), (yellow, "yellow"), (green, "green"), (blue, "blue"), (red, "red"),
    ]

    /// The name, or the number if this version has none for it.
    public var name: String {
        Self.named.first { $0.color == self }?.name ?? String(rawValue)
    }

    /// The color with this name, in any case, or this number; `nil` if there is none.
    public init?(named text: String) {
        let name = text.lowercased()
        guard let match = Self.named.first(where: { $0.name == name || String($0.color.rawValue) == name }) else { return nil }
        self = match.color
    }
}
