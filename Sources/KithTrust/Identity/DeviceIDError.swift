/// Why a text is not a device id. Groups are counted from 1, as people count.
public enum DeviceIDError: Error, Hashable, Sendable {
    /// There is nothing to read.
    case empty
    /// Not 65 characters, spaces and dashes aside.
    case length(found: Int)
    /// Thirteen groups, but this one has not five characters.
    case groupLength(group: Int, found: Int)
    /// A character that the readable form never uses.
    case character(group: Int, found: Character)
    /// The check characters of these groups do not match.
    case mistyped(groups: [Int])
}

extension DeviceIDError: CustomStringConvertible {
    /// What is wrong and what to do, for people.
    public var description: String {
        switch self {
        case .empty:
            "The device id is empty. Copy the whole id that the other device shows for itself."
        case .length(let found):
            "A device id has 65 characters in 13 groups of 5, this has \(found). Copy the whole id."
        case .groupLength(let group, let found):
            "Group \(group) of the device id has \(found) characters instead of 5. Compare it with the other device."
        case .character(let group, let found):
            "Group \(group) of the device id contains \u{201C}\(found)\u{201D}, which no id contains. Compare it with the other device."
        case .mistyped(let groups) where groups.count == 1:
            "Group \(groups[0]) of the device id is mistyped. Compare it with the other device."
        case .mistyped(let groups):
            "Groups \(groups.map(String.init).joined(separator: ", ")) of the device id are mistyped or in the wrong order. Compare them with the other device."
        }
    }
}
