import ArgumentParser
import Foundation
import KithFiles
import KithNotes
import KithReport

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring in notes of other programs, or exported ones.",
        discussion: """
            Knows folders of Markdown, text and HTML (a vault of Obsidian, Joplin's Markdown, exports of Apple's Notes), Joplin's JEX, \
            Google Keep (Takeout, packed or not), Evernote's ENEX, and what `kith export` wrote. Files that notes link to are \
            attached. Done again, it imports nothing twice, and it never changes a note that is here. files.md of the documentation says more.

            EXAMPLES
              kith import ~/Vault --dry-run
              kith import ~/Vault --tag obsidian --folders-as-tags
              kith import export.jex
              kith import takeout-20261123.zip --tag keep
              kith import notes.jsonl
            """)

    @Argument(help: "The file or folder.", completion: .file(), transform: GivenPath.read)
    var path: String

    @Flag(help: "Say what would be imported, and import nothing.")
    var dryRun = false

    @Option(help: "A tag for every imported note; may be repeated.")
    var tag: [String] = []

    @Flag(help: "Make a tag of the folders that a file is in: work/plans.")
    var foldersAsTags = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        var settings = NoteImport.Options()
        settings.isDryRun = dryRun
        settings.tags = tag.map { $0.hasPrefix("#") ? String($0.dropFirst()) : $0 }
        settings.tagsFolders = foldersAsTags
        let progress = ProgressLine("notes looked at")
        settings.progress = progress.show
        let report = try Interruption.leavingNothing {
            try options.withNotes(makingFile: true) { try NoteImport.run(path, into: $0, options: settings) }
        }
        progress.clear()
        if options.json { return try Console.output.write(json: Report(report, dryRun)) }
        let shown = options.verbose ? report.remarks.count : min(report.remarks.count, Self.remarksShown)
        for remark in report.remarks.prefix(shown) {
            try Console.error.writeLine(PlainText.line("\(remark.origin): \(remark.words)"))
        }
        if report.remarkCount > shown {
            try Console.error.writeLine("and \(report.remarkCount - shown) more; --verbose or --json shows them.")
        }
        if report.inFolders > 0 { try Console.error.writeLine(Self.hint(report.inFolders)) }
        try Console.output.writeLine(Self.sentence(report, dryRun))
    }

    /// What did not fit is shown up to here.
    private static let remarksShown = 20

    private static func hint(_ inFolders: Int) -> String {
        "\(Count.text(inFolders, "note")) \(inFolders == 1 ? "is" : "are") in folders or notebooks, which are not kept; "
            + "--folders-as-tags makes a tag of them."
    }

    private static func sentence(_ report: ImportReport, _ isDryRun: Bool) -> String {
        var parts = ["\(isDryRun ? "Would import" : "Imported") \(Count.text(report.added, "note"))"]
        if report.addedToTrash > 0 { parts.append("\(report.addedToTrash) of them in the trash") }
        if report.attachments > 0 { parts.append("with \(Count.text(report.attachments, "attachment"))") }
        if report.present > 0 { parts.append("\(report.present) \(report.present == 1 ? "was" : "were") here already") }
        if report.leftOut > 0 { parts.append("\(report.leftOut) left out") }
        return parts.joined(separator: ", ") + "."
    }

    private struct Report: Encodable {
        struct Remark: Encodable {
            let origin: String
            let words: String
            let isLeftOut: Bool
        }

        let isDryRun: Bool
        let added: Int
        let addedToTrash: Int
        let attachments: Int
        let present: Int
        let leftOut: Int
        let inFolders: Int
        let remarks: [Remark]

        init(_ report: ImportReport, _ isDryRun: Bool) {
            self.isDryRun = isDryRun
            (added, addedToTrash, attachments) = (report.added, report.addedToTrash, report.attachments)
            (present, leftOut, inFolders) = (report.present, report.leftOut, report.inFolders)
            remarks = report.remarks.map { Remark(origin: $0.origin, words: $0.words, isLeftOut: $0.isLeftOut) }
        }
    }
}
