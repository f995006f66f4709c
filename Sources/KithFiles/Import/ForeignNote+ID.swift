import Foundation
import KithNotes

extension ForeignNote {
    /// The id of the note: its own, or one that follows from where it comes from and what it says, so that it is imported once. What other
    /// notes are there, in which zone the machine is, or in which form its disk has the accents of names, has no part in it.
    var finalID: UUID {
        if let id = id ?? derivedID { return id }
        let words = [Self.idWords, origin.precomposedStringWithCanonicalMapping, title.precomposedStringWithCanonicalMapping, said ?? body]
        return UUID.derived(from: words, milliseconds: zonelessCreatedMilliseconds ?? createdMilliseconds)
    }

    private static let idWords = "kith import 1"

    /// The ids that earlier versions gave the note, if they differ: those versions made them of the text with links to attachments whose names
    /// depended on other notes, of a time in the zone in which the machine was, and of names as the disk had them.
    var formerIDs: [UUID] {
        let origins = [origin, formerOrigin].compactMap(\.self).flatMap(Self.forms)
        let titles = Self.forms(of: formerTitle ?? title)
        let isAsNow = origins.count == 1 && titles.count == 1
        let isSame = isAsNow && said == nil && formerTitle == nil && formerBodies.isEmpty && zonelessCreatedMilliseconds == nil
        if isSame || id != nil || derivedID != nil { return [] }
        let bodies = formerBodies.isEmpty ? [body] : formerBodies
        let texts = isAsNow ? bodies : bodies + [said ?? body]
        var ids = origins.flatMap { origin in
            titles.flatMap { title in
                texts.map { UUID.derived(from: [Self.idWords, origin, title, $0], milliseconds: createdMilliseconds) }
            }
        }
        guard let zonelessCreatedMilliseconds else { return Set(ids) == [finalID] ? [] : ids }
        ids.append(finalID)
        return ids.flatMap { id in Self.zoneMinutes.map { id.at(milliseconds: zonelessCreatedMilliseconds - $0 * 60_000) } }
    }

    /// A name with its accents as they are, and in the forms in which disks may have them (NFC, NFD).
    private static func forms(of name: String) -> [String] {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return [name] }
        return [name.precomposedStringWithCanonicalMapping, name.decomposedStringWithCanonicalMapping].reduce(into: [name]) { forms, form in
            if !forms.contains(where: { $0.utf8.elementsEqual(form.utf8) }) { forms.append(form) }
        }
    }

    /// How far the zones of the world are from UTC, or were since 1980.
    private static let zoneMinutes: [Int64] =
        (-12...14).map { $0 * 60 } + [-570, -510, -270, -210, -150, -90]
        + [210, 270, 330, 345, 390, 450, 510, 525, 570, 585, 630, 690, 765, 825]
}

extension NoteImport {
    /// The notes as they are here, where an earlier version has imported them.
    func asImportedBefore(_ batch: [ForeignNote]) throws -> [ForeignNote] {
        let former = batch.map(\.formerIDs)
        let asked = zip(batch, former).flatMap { $1.isEmpty ? [] : [$0.finalID] + $1 }
        let known = asked.isEmpty ? [] : try notes.known(asked)
        return try zip(batch, former).map { note, ids in
            var note = note
            if let own = note.id {
                // Its text is the same but for the names in its links.
                let text = note.formerBodies.isEmpty ? nil : try notes.note(own)?.body
                note.body = note.formerBodies.first { text?.utf8.elementsEqual($0.utf8) == true } ?? note.body
            } else if !ids.isEmpty, !known.contains(note.finalID), let id = ids.first(where: known.contains) {
                note.derivedID = id
            }
            return note
        }
    }
}
