extension Safety {
    /// The names of the holders, for a sentence: `attic, desk and phone`; `nil` if there are none.
    public var names: String? { Self.list(holders.map(\.name)) }

    /// The names of those that hold all rows, for a sentence; `nil` if there are none.
    public var rowHolderNames: String? { Self.list(rowHolders.map(\.name)) }

    /// The same in plain words, about the whole store.
    public var sentence: String { sentence() }

    /// The same, in the words of an app.
    ///
    /// - Parameters:
    ///   - rows: what the app calls all that is no attachment, in the plural and as a sentence begins.
    ///   - attachmentName: what people call an attachment, if they call it anything.
    public func sentence(rows: String = "Rows", attachmentName: (LooseAttachment) -> String? = { _ in nil }) -> String {
        let held = heldSentence(rows, attachmentName)
        guard devicesHeard > 0, let missing = missing(attachmentName) else { return held }
        return "\(held) \(missing)."
    }

    private func heldSentence(_ rows: String, _ attachmentName: (LooseAttachment) -> String?) -> String {
        if let names { return "Everything \(isWrittenHere ? "you wrote" : "here") is safe on: \(names)." }
        if isEmpty { return "Nothing is written here yet." }
        if devices == 0 { return "Everything is on this device alone." }
        if devicesHeard == 0 { return "Not confirmed yet: no other device has said what it holds." }
        let loose = listed(attachmentsHereOnly, attachmentName)
        let isOne = attachmentsHereOnly.count == 1
        if let names = rowHolderNames {
            guard let loose else { return "Everything here is on other devices, too, though none of them has all of it yet." }
            return "\(rows) are safe on \(names); \(loose) \(isOne ? "is" : "are") \(Self.unconfirmed)."
        }
        switch (commitsHereOnly, loose) {
        case (0?, nil): return "Everything here is on other devices, too, though none of them has all of it yet."
        case (0?, let loose?):
            let rest = "\(loose) \(isOne ? "is" : "are") \(Self.unconfirmed)"
            return "\(rows) are on other devices, too, though none of them has all yet; \(rest)."
        case (1?, nil): return "1 change is \(Self.unconfirmed)."
        case (let count?, nil): return "\(NodeStatus.grouped(Int(clamping: count))) changes are \(Self.unconfirmed)."
        case (let count?, let loose?):
            let changes = count == 1 ? "1 change" : "\(NodeStatus.grouped(Int(clamping: count))) changes"
            return "\(changes), and \(loose), are \(Self.unconfirmed)."
        case (nil, _): return "No other device has all of it yet."
        }
    }

    /// The same in a few words, about a row or a few.
    public func label(rows: String = "Row", attachmentName: (LooseAttachment) -> String? = { _ in nil }) -> String {
        if let names { return "Safe on: \(names)." }
        if devicesHeard == 0 { return "Not confirmed yet." }
        guard let names = rowHolderNames else { return "As it is now, \(Self.unconfirmed)." }
        if let loose = listed(attachmentsHereOnly, attachmentName) { return "\(rows) safe on: \(names); \(loose) \(Self.unconfirmed)." }
        if let missing = missing(attachmentName) { return "\(rows) safe on: \(names). \(missing)." }
        return "On other devices, too, though none of them has all of it yet."
    }

    private static let unconfirmed = "confirmed by no other device yet"

    /// Names this many attachments at most.
    private static let namedMax = 3

    /// The beginning of a name that a member has made too long.
    private static func cut(_ name: String) -> String {
        let beginning = name.unicodeScalars.prefix(200)
        return beginning.endIndex == name.endIndex ? name : "\(String(beginning))…"
    }

    /// The attachments that no device is known to have, as a sentence without its end; `nil` if there are none.
    private func missing(_ name: (LooseAttachment) -> String?) -> String? {
        guard let names = listed(attachmentsNowhere, name) else { return nil }
        return "Not here, and on no other device that was heard of: \(names)"
    }

    /// Some attachments: `film (260.0 MiB)`; `nil` if there are none.
    private func listed(_ attachments: [LooseAttachment], _ name: (LooseAttachment) -> String?) -> String? {
        if attachments.isEmpty { return nil }
        let names = attachments.prefix(Self.namedMax).map { ($0.sizeBytes, name($0)) }
        let isNamed = names.contains { $0.1 != nil }
        let named = isNamed ? names.map { Self.cut($0.1 ?? "an attachment") + Self.size($0.0) } : []
        let rest = attachments.count - named.count
        if rest == 0 { return Self.list(named) }
        let bytes = attachments.dropFirst(named.count).reduce(0) { $0 + $1.sizeBytes }
        let more = named.isEmpty ? "" : " more"
        return Self.list(named + ["\(rest)\(more) attachment\(rest == 1 ? "" : "s")\(Self.size(bytes))"])
    }

    private static func size(_ bytes: Int64) -> String {
        bytes == 0 ? "" : " (\(ByteText.text(bytes)))"
    }

    private static func list(_ names: [String]) -> String? {
        guard let last = names.last else { return nil }
        return names.count == 1 ? last : names.dropLast().joined(separator: ", ") + " and " + last
    }
}
