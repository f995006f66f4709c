import Foundation
import Kith
import KithNotes
import KithProgram

extension StatusReport {
    /// Something beside the node's own sentence that a person may want to know.
    package struct Notice: Hashable, Sendable {
        /// What is so.
        package let sentence: String
        /// What can be done about it.
        package let advice: Advice?
        /// Whether there is something to be done.
        package let isToBeDone: Bool

        /// What is so and what can be done, for people at a command line.
        package var text: String { [sentence, advice?.commands].compactMap(\.self).joined(separator: " ") }
    }

    /// What can be done about something. Commands and the page have words of their own for it.
    package enum Advice: Hashable, Sendable {
        /// Choose between versions.
        case choose
        /// Bring back what another machine deleted, which a command names so, or say that it was meant.
        case bringBack(String)
        /// Look at the file.
        case verify
        /// Look at the folders.
        case lookAtFolders

        package var commands: String {
            switch self {
            case .choose: "Choose: `kith conflicts list`."
            case .bringBack(let what): "Bring them back: `kith trash restore \(what)`; if it was meant: `kith trash accept`."
            case .verify: "See `kith verify`."
            case .lookAtFolders: "See `kith folder list`."
            }
        }

        /// The page's own place for it; `nil` where it has none, and the command is named.
        package var place: ReportPlace? {
            switch self {
            case .choose: .choices
            case .bringBack: .trash
            case .verify, .lookAtFolders: nil
            }
        }
    }

    /// What else there is to say, in the order of its weight.
    package var notices: [Notice] {
        var notices: [Notice] = []
        func add(_ sentence: String?, _ isToBeDone: Bool, _ advice: Advice? = nil) {
            if let sentence { notices.append(Notice(sentence: sentence, advice: advice, isToBeDone: isToBeDone)) }
        }
        for (sentence, what) in massDeletionSentences { add(sentence, true, .bringBack(what)) }
        if let safety, safety.devices > 0 { add(safetySentence, safety.names == nil) }
        add(mended?.sentence, true)
        add(attachmentsSentence, false)
        add(NoteConflict.sentence(ofCount: conflicts), true, .choose)
        for folder in folders { add(folder.sentence, true, folder.isHere ? .lookAtFolders : nil) }
        add(refusedSentence, false, .verify)
        return notices
    }

    private var attachmentsSentence: String? {
        if attachmentsOnTheirWay == 0 { return nil }
        let few = attachmentsOnTheirWay == 1 ? "1 attachment is" : "\(NodeStatus.grouped(attachmentsOnTheirWay)) attachments are"
        return "\(few) on the way here."
    }

    private var refusedSentence: String? {
        if refusedRows == 0 { return nil }
        let few = refusedRows == 1 ? "1 row is" : "\(NodeStatus.grouped(refusedRows)) rows are"
        return "\(few) refused by a rule of the table."
    }
}

extension StatusReport.Folder {
    /// What a person is to look at; `nil` if nothing is.
    package var sentence: String? {
        if !isHere { return "The folder \(path) is not there, or not mounted." }
        var parts: [String] = []
        func are(_ count: Int) -> String { count == 1 ? "as it is" : "as they are" }
        if left > 0 { parts.append("\(Count.text(left, "file")) \(left == 1 ? "is" : "are") left \(are(left))") }
        if held > 0 { parts.append("\(Count.text(held, "file")) \(held == 1 ? "is" : "are") gone, and the notes kept") }
        if behind > 0 {
            parts.append("\(Count.text(behind, "note")) \(behind == 1 ? "is" : "are") not in the files yet \(are(behind)) now")
        }
        return parts.isEmpty ? nil : "Of the folder \(path), \(parts.joined(separator: ", and "))."
    }
}

extension StatusReport.Mended {
    package var sentence: String {
        let what = rows == 1 ? "1 row differed without a reason and was mended" : "\(rows) rows differed without a reason and were mended"
        let last = lastTitle.map { "\u{201C}\($0)\u{201D}" } ?? "\(lastTable) \(lastID)"
        return "\(what)\(rows == 1 ? ":" : ", the last of them") \(last). Nothing was lost; run `kith verify`."
    }
}

/// A place of the page where something can be done.
package enum ReportPlace: String, Hashable, Sendable {
    case choices = "/conflicts"
    case trash = "/trash"

    /// What the link to it says.
    package var label: String {
        switch self {
        case .choices: "Choose"
        case .trash: "Look at the trash"
        }
    }
}

/// What is said of another machine.
extension NodeStatus.Peer {
    /// What goes on with it, in a word or two.
    package var words: String {
        if state == .notReachable { return isRefused == true ? "refuses this device" : "not reachable" }
        if isInSync { return "up to date" }
        if let progress = receiving ?? sending {
            let share = "\(NodeStatus.grouped(progress.rows)) of about \(NodeStatus.grouped(progress.rowsTotal)) rows"
            return (receiving == nil ? "sent " : "received ") + share
        }
        let rows = [(rowsToSend, "to send"), (rowsToReceive, "to receive")].filter { $0.0 > 0 }
        return rows.isEmpty ? "connected" : rows.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// What is to be looked at.
    package var remarks: [String] {
        let name = name.isEmpty ? String(deviceID.prefix(11)) : name
        var remarks: [String] = []
        if twins != nil { remarks.append(NodeStatus.sentence(onTwinsOf: self) + " Run `kith device renew` on one of them.") }
        if let error = lastError, state == .notReachable, isErrorFromBefore != true { remarks.append("\(name): \(error)") }
        if let offset = clockOffsetMilliseconds {
            remarks.append("\(name): its clock is \(PlainDuration.offset(milliseconds: offset)) this one's. Set the clocks.")
        }
        if isIdentical == false {
            remarks.append("\(name): it holds other rows than this machine although both know the same; they are being compared.")
        }
        if let withheld {
            remarks.append("\(name): \(Self.sentence(onTooLarge: withheld, to: "be sent to it", others: "all other rows are sent"))")
        }
        return remarks
    }

    /// Rows that are too large to travel, and what can be done.
    ///
    /// - Parameters:
    ///   - rows: at least one, as `table id`.
    ///   - travel: what they are too large for, after "to".
    ///   - others: what becomes of all other rows.
    package static func sentence(onTooLarge rows: [String], to travel: String, others: String) -> String {
        let subject = rows.count == 1 ? "the row \(rows[0]) is" : "\(rows.count) rows are"
        let first = rows.count == 1 ? "" : " The first is \(rows[0])."
        return "\(subject) too large to \(travel).\(first) Make the values smaller or fewer; \(others)."
    }
}

/// Numbers of things, for people.
package enum Count {
    /// `1 note`, `2 notes`.
    package static func text(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
