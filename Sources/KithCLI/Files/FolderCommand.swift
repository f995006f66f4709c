import ArgumentParser
import Foundation
import KithFiles
import KithNotes
import KithReport

struct FolderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "folder",
        abstract: "Keep a folder of Markdown files in step with the notes, both ways.",
        discussion: """
            Write in any editor: while `kith up` runs, what you save is merged with what other machines have written, and what \
            is new is written into the files. Without it, `kith folder sync` does so once. files.md of the documentation says more.

            EXAMPLES
              kith folder add ~/Notes
              kith folder sync
            """,
        subcommands: [FolderAdd.self, FolderList.self, FolderSync.self, FolderRemove.self])
}

struct FolderAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Begin to keep a folder in step, and do so once.",
        discussion: """
            The folder is made if it is not there. Markdown files that it holds become notes. A folder that was moved goes on.

            EXAMPLES
              kith folder add ~/Notes
              kith folder add ~/Work --tag work
              kith folder add ~/Vault --folders-as-tags
            """)

    @Argument(help: "The folder.", completion: .directory, transform: GivenPath.read)
    var path: String

    @Option(help: "Only notes with this tag; new files get it.")
    var tag: String?

    @Flag(help: "The folders that a file is in are a tag of its note (work/plans), and the other way round.")
    var foldersAsTags = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let tag = tag.map { $0.hasPrefix("#") ? String($0.dropFirst()) : $0 }
        try options.withNotes(makingFile: true) { notes in
            let folder = try NotesFolder.add(path, tag: tag, tagsFolders: foldersAsTags, to: notes)
            let report = try folder.sync(notes)
            try FolderLines.show([(folder, report)], options)
            if report.others > 0, !options.json {
                try Console.output.writeLine(
                    "\(Count.text(report.others, "file")) that \(report.others == 1 ? "is no note stays" : "are no notes stay") on this machine alone: the folder's attachments/ is for those that notes have."
                )
            }
        }
    }
}

struct FolderList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the folders that are kept in step, and the files that are left as they are.",
        discussion: """
            EXAMPLES
              kith folder list
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let folders = try options.withNotes { notes in
            try NotesFolder.all(of: notes).map { FolderRecordLine($0, try $0.state(in: notes)) }
        }
        if options.json { return try Console.output.write(json: folders) }
        for folder in folders {
            let tag = (folder.tag.map { "  #\($0)" } ?? "") + (folder.foldersAsTags ? "  folders as tags" : "")
            let files = folder.isHere ? Count.text(folder.files, "file") : "not there, or not mounted"
            try Console.output.writeLine(PlainText.line("\(folder.path)\(tag)  \(files)"))
            for left in folder.left { try Console.output.writeLine(PlainText.line("  \(left.path): \(left.words)")) }
            if folder.held > 0 { try Console.output.writeLine("  " + FolderLines.held(folder.held, of: folder.path)) }
            if folder.isHere, folder.behind > 0 {
                let notes = folder.behind == 1 ? "1 note is" : "\(folder.behind) notes are"
                try Console.output.writeLine("  \(notes) not in the files yet as now. To write them: kith folder sync")
            }
        }
    }
}

struct FolderSync: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Bring files and notes in step once.",
        discussion: """
            Every file is read. What you wrote into files is merged into the notes, what changed in the notes is written into the \
            files. If you deleted a file, its note goes to the trash. If many files are gone at once, their notes stay, and the \
            command ends with status 75: run it again with --delete or --write-again.

            EXAMPLES
              kith folder sync
              kith folder sync ~/Notes --delete
              kith folder sync ~/Notes --take-later
            """)

    @Argument(help: "One of the folders; without it, all.", completion: .directory, transform: GivenPath.read)
    var path: String?

    @Flag(help: "Move the notes whose files are gone to the trash, however many.")
    var delete = false

    @Flag(help: "Write the files again that are gone, if they are many.")
    var writeAgain = false

    @Flag(help: "Have notes say what their files say that are later, as after a restore of the notes.")
    var takeLater = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if delete, writeAgain { throw ValidationError("Give --delete or --write-again, not both.") }
    }

    func run() throws {
        var settings = NotesFolder.Options()
        (settings.deletesMany, settings.writesAgain, settings.takesLater) = (delete, writeAgain, takeLater)
        settings.readsAll = true
        var reports: [(NotesFolder, FolderReport)] = []
        var failure: (any Error)?
        try options.withNotes { notes in
            for folder in try FolderLines.folders(path, notes) {
                // One that is not there keeps no other from being brought in step.
                do {
                    reports.append((folder, try folder.sync(notes, options: settings)))
                } catch {
                    if let earlier = failure.flatMap(CommandFailure.init) {
                        try Console.error.writeLine(PlainText.line("kith: \(earlier.message)"))
                    }
                    failure = error
                }
            }
        }
        if failure == nil || !reports.isEmpty { try FolderLines.show(reports, options) }
        if let failure { throw failure }
        if let (folder, report) = reports.first(where: { $0.1.held > 0 }) {
            throw CommandFailure(.temporary, FolderLines.held(report.held, of: folder.path))
        }
    }
}

struct FolderRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Keep a folder in step no more; files and notes stay.",
        discussion: """
            EXAMPLES
              kith folder remove ~/Notes
            """)

    @Argument(help: "The folder.", completion: .directory, transform: GivenPath.read)
    var path: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let folders = try options.withNotes { notes in
            let folders = try FolderLines.folders(path, notes)
            for folder in folders { try folder.remove(from: notes) }
            return folders
        }
        if options.json { return try Console.output.write(json: folders.map(\.path)) }
        for folder in folders { try Console.output.writeLine(PlainText.line("\(folder.path) is a folder like any other now.")) }
    }
}

/// What commands say of folders.
enum FolderLines {
    /// The folder with this path, or all.
    static func folders(_ path: String?, _ notes: NotesStore) throws -> [NotesFolder] {
        let all = try NotesFolder.all(of: notes)
        guard let path else {
            if all.isEmpty { throw CommandFailure(.noInput, "No folder is kept in step. Begin with: kith folder add PATH") }
            return all
        }
        let whole = URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
        guard let folder = all.first(where: { $0.path == whole }) else {
            throw CommandFailure(.noInput, "\(whole) is not kept in step. `kith folder list` lists those that are.")
        }
        return [folder]
    }

    static func show(_ reports: [(NotesFolder, FolderReport)], _ options: StoreOptions) throws {
        if options.json { return try Console.output.write(json: reports.map(FolderSyncLine.init)) }
        for (folder, report) in reports {
            for file in report.left {
                try Console.error.writeLine(PlainText.line("\(folder.path)/\(file.path) was left as it is: \(file.words)"))
            }
            try Console.output.writeLine(PlainText.line("\(folder.path): \(sentence(report))"))
        }
    }

    /// What is to be decided about files that are gone.
    static func held(_ count: Int, of path: String) -> String {
        PlainText.line(
            "\(Count.text(count, "file")) of \(path) \(count == 1 ? "is" : "are") gone, and the notes were kept. To delete them: kith folder sync --delete. To have the files back: kith folder sync --write-again"
        )
    }

    private static func sentence(_ report: FolderReport) -> String {
        if report.isQuiet { return report.left.isEmpty ? "nothing to do." : "nothing else to do." }
        let parts = [
            (report.added, "new note"), (report.read, "changed file"), (report.written, "written file"), (report.deleted, "deleted note"),
            (report.removed, "removed file"),
        ]
        return parts.filter { $0.0 > 0 }.map { Count.text($0.0, $0.1) }.joined(separator: ", ") + "."
    }
}

/// A folder as JSON.
private struct FolderRecordLine: Encodable {
    let path: String
    let tag: String?
    let foldersAsTags: Bool
    let isHere: Bool
    let files: Int
    let held: Int
    let behind: Int
    let left: [LeftLine]

    init(_ folder: NotesFolder, _ state: NotesFolder.State) {
        (path, tag, foldersAsTags, isHere) = (folder.path, folder.tag, folder.tagsFolders, folder.isHere)
        (files, held, behind, left) = (state.files, state.held, state.behind, state.left.map(LeftLine.init))
    }
}

/// A file that is left as it is, as JSON.
private struct LeftLine: Encodable {
    let path: String
    let words: String

    init(_ left: FolderReport.LeftFile) {
        (path, words) = (left.path, left.words)
    }
}

/// What was done to a folder, as JSON.
private struct FolderSyncLine: Encodable {
    let path: String
    let added: Int
    let read: Int
    let written: Int
    let deleted: Int
    let removed: Int
    let held: Int
    let others: Int
    let left: [LeftLine]

    init(_ folder: NotesFolder, _ report: FolderReport) {
        path = folder.path
        (added, read, written) = (report.added, report.read, report.written)
        (deleted, removed, held, others) = (report.deleted, report.removed, report.held, report.others)
        left = report.left.map(LeftLine.init)
    }
}
