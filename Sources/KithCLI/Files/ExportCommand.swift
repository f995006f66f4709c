import ArgumentParser
import Foundation
import KithFiles
import KithNotes
import KithReport

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all notes as files that other programs read.",
        discussion: """
            As a folder of Markdown files, with front matter that Obsidian and Joplin understand, as a file of JSON lines if its \
            name ends in .jsonl, or as a site of HTML pages. The folder must be new or empty, the file new. `kith import` takes \
            Markdown and JSON lines back, with ids, times, tags, colors, attachments and the trash. files.md of the documentation says more.

            EXAMPLES
              kith export ~/notes-folder
              kith export notes.jsonl
              kith export site --format site
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case markdown, lines, site
    }

    @Argument(help: "The folder or file to make.", completion: .file(), transform: GivenPath.read)
    var path: String

    @Option(help: "What to write: markdown, lines or site. Without it, the name says it.")
    var format: Format?

    @Flag(help: "Leave out the notes in the trash.")
    var withoutTrash = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        var settings = ExportOptions()
        settings.includesTrash = !withoutTrash
        let progress = ProgressLine("notes written")
        settings.progress = progress.show
        let report = try Interruption.leavingNothing {
            try options.withNotes(needingNotes: true, onlyReading: true) { notes in
                switch format ?? (path.hasSuffix(".jsonl") ? .lines : .markdown) {
                case .markdown: try MarkdownExport.write(notes, to: path, options: settings)
                case .site: try SiteExport.write(notes, to: path, options: settings)
                case .lines: try JSONLinesExport.write(notes, to: path, options: settings)
                }
            }
        }
        progress.clear()
        if options.json { return try Console.output.write(json: Report(report)) }
        for missing in report.missing { try Console.error.writeLine(PlainText.line(missing.sentence)) }
        var parts = ["Wrote \(Count.text(report.notes, "note")) to \(path)"]
        if report.trashed > 0 { parts.append("\(report.trashed) of them from the trash") }
        if report.attachments > 0 { parts.append("with \(Count.text(report.attachments, "attachment"))") }
        try Console.output.writeLine(PlainText.line(parts.joined(separator: ", ") + "."))
    }

    private struct Report: Encodable {
        let notes: Int
        let trashed: Int
        let attachments: Int
        let missing: [ExportReport.Missing]

        init(_ report: ExportReport) {
            (notes, trashed, attachments, missing) = (report.notes, report.trashed, report.attachments, report.missing)
        }
    }
}
