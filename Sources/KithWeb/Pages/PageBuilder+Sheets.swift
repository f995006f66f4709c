import Foundation
import Kith
import KithNotes
import KithProgram
import KithReport

/// The parts of the page beside the notes: versions to choose between, the trash, and the other machines.
extension PageBuilder {
    /// How much of a version is shown; `kith conflicts show` prints all of it.
    private static let versionScalarsMax = 20_000
    private static let labelScalarsMax = 200

    func conflicts() throws -> String {
        let names = deviceNames
        let conflicts = try notes.conflicts().map { conflict -> [String: Any] in
            var versions = conflict.versions.enumerated().map { index, version -> [String: Any] in
                [
                    "text": Self.beginning(of: version.text, Self.versionScalarsMax),
                    "label": Self.beginning(of: version.text, Self.labelScalarsMax), "index": index,
                    "isShown": index == 0 && conflict.lines == nil,
                    "by": names[version.author] ?? "another device",
                    "written": WrittenTime(version.written).text,
                ]
            }
            if let lines = conflict.lines {
                versions.append([
                    "text": Self.beginning(of: lines.shown, Self.versionScalarsMax),
                    "label": Self.beginning(of: lines.shown, Self.labelScalarsMax), "index": -1, "isShown": true,
                    "by": "both, as it stands", "written": "",
                ])
            }
            return [
                "id": conflict.noteID.uuidString.lowercased(), "title": Self.title(conflict.title),
                "field": conflict.field.rawValue, "mark": Self.mark(of: conflict), "versions": versions,
                "before": Self.beginning(of: conflict.lines?.before ?? "", Self.versionScalarsMax), "hasBefore": conflict.lines != nil,
            ]
        }
        return templates.render("conflicts", ["conflicts": conflicts, "isEmpty": conflicts.isEmpty])
    }

    /// Names a choice as it was shown.
    static func mark(of conflict: NoteConflict) -> String {
        let texts = [conflict.field.rawValue, conflict.lines?.shown ?? ""] + conflict.versions.map(\.text)
        return Checksum.text(of: texts.flatMap { Array($0.utf8) + [0] })
    }

    private static func end(of trashed: TrashedNote) -> String {
        guard let end = trashed.endMilliseconds else { return "kept until you have looked" }
        return String(TimeText(milliseconds: end)?.local.prefix(10) ?? "an unknown day")
    }

    private static func place(of trashed: TrashedNote, _ names: DeviceNames) -> String {
        let name = names[trashed.deletedBy] ?? "another device"
        return trashed.isOnlySaid ? "as \(name) says" : trashed.deletedBy == .own ? "here" : "on \(name)"
    }

    func trash() throws -> String {
        let names = deviceNames
        let trashed = try notes.trash().map { trashed -> [String: Any] in
            [
                "id": trashed.id.uuidString.lowercased(), "title": Self.title(of: trashed.note),
                "deleted": time(trashed.deletedMilliseconds),
                "by": Self.place(of: trashed, names),
                "until": Self.end(of: trashed),
            ]
        }
        let warnings = try notes.massDeletions().map { deletion in
            let day = TimeText(milliseconds: deletion.sinceMilliseconds).map { "on \($0.local.prefix(10))" } ?? "lately"
            return ["sentence": deletion.sentence(names, day: day), "device": Self.device(of: deletion)]
        }
        return templates.render("trash", ["trashed": trashed, "isEmpty": trashed.isEmpty, "warnings": warnings])
    }

    /// Names the machine that deleted so much; empty if nobody knows which.
    static func device(of deletion: MassDeletion) -> String {
        MassDeletionRecord(deletion).device ?? ""
    }

    func history(of id: UUID) throws -> String {
        guard let note = try notes.note(id) else { throw try ErrorAnswer.noNote(id, in: notes) }
        let names = deviceNames
        let versions = try notes.history(of: id).reversed().map { version -> [String: Any] in
            [
                "version": version.id.description, "by": names[version.writer] ?? String(version.author.prefix(8)),
                "written": WrittenTime(version.written).text, "inserted": version.inserted,
                "deleted": version.deleted,
            ]
        }
        return templates.render(
            "history",
            [
                "id": id.uuidString.lowercased(), "title": Self.title(of: note), "versions": versions, "last": max(0, versions.count - 1),
                "isEmpty": versions.isEmpty,
            ])
    }

    func devices() throws -> String {
        let trust = try configuration.trust()
        let report = try StatusReport(notes, file: configuration.notesFile, trust: trust)
        let peers = Dictionary((report.node?.peers ?? []).map { ($0.deviceID, $0) }) { first, _ in first }
        let rows = trust.devices.map { device -> [String: Any] in
            let peer = peers[device.id.description]
            let seen = [report.lastSeenMilliseconds[device.id.description], peer?.lastSyncMilliseconds].compactMap(\.self).max()
            return [
                "name": device.name.isEmpty ? device.id.shortDescription : device.name, "id": device.id.shortDescription,
                "state": peer?.words ?? "not met",
                "seen": peer?.state == .connected ? "now" : seen.map { time($0)["ago"] ?? "" } ?? "never",
            ]
        }
        let remarks = (report.node?.peers ?? []).flatMap(\.remarks)
        return templates.render(
            "devices",
            [
                "sentence": report.sentence, "remedy": report.remedyOnPage ?? "", "devices": rows, "isEmpty": rows.isEmpty,
                "notices": report.notices.map(Self.values(of:)) + remarks.map { ["text": $0] },
                "own": (try? DeviceKey.load(from: configuration.identity).id.shortDescription) ?? "none yet",
            ])
    }

    /// What is so, and a link to where something can be done about it; elsewhere the command is named.
    private static func values(of notice: StatusReport.Notice) -> [String: Any] {
        guard let place = notice.advice?.place else { return ["text": notice.text] }
        return ["text": notice.sentence, "hasPlace": true, "path": place.rawValue, "label": place.label]
    }

    /// What the machines are called that wrote something. Notes are shown whatever is wrong with the key or the list.
    var deviceNames: DeviceNames { (try? configuration.trust())?.deviceNames ?? DeviceNames([]) }
}
