import ArgumentParser
import Foundation
import Kith
import KithNotes

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what must change in an app's database before its tables can synchronise.",
        discussion: """
            Looks at all tables of the file, or at those that are named, and lists everything at once: what is wrong, and what to write \
            instead. The file is only read. --migrate gives rows UUIDs in place of other keys, with all that refers to them, in one \
            transaction. The exit status is 65 if something must change.

            EXAMPLES
              kith check pantry.sqlite
              kith check pantry.sqlite --table recipe --table step --set recipe.tags --text recipe.steps
              kith check pantry.sqlite --sql > migration.sql
              kith check pantry.sqlite --key journal.day --json | jq .problems
              kith check copy.sqlite --migrate --form text
            """)

    @Argument(help: "The SQLite file of the app.", completion: .file(), transform: GivenPath.read)
    var file: String

    @Option(help: ArgumentHelp("A table that is to synchronise; all of the app's own if none is named.", valueName: "name"))
    var table: [String] = []

    @Option(help: ArgumentHelp("A column that holds a set, as a JSON array.", valueName: "table.column"))
    var set: [String] = []

    @Option(help: ArgumentHelp("An INTEGER column whose changes add up.", valueName: "table.column"))
    var counter: [String] = []

    @Option(help: ArgumentHelp("A TEXT column that several people edit at once.", valueName: "table.column"))
    var text: [String] = []

    @Option(help: ArgumentHelp("A column whose value names the row: a day, or one of a pair.", valueName: "table.column"))
    var key: [String] = []

    @Flag(help: "Print the SQL of what SQL alone can change, and nothing else.")
    var sql = false

    @Flag(help: "Give rows ids in the file, which is changed. Make a copy first.")
    var migrate = false

    @Option(help: "How new ids are written: blob, text or upperCaseText.")
    var form: KeyForm = .blob

    @Option(help: "Where new ids come from: derived from the old key, the same in all copies of this file; or drawn.")
    var ids: KeyMigration.Source = .derived

    @Flag(help: "Print JSON instead of text for people.")
    var json = false

    @Flag(help: "Say more on standard error: details of an error.")
    var verbose = false

    func run() throws {
        do {
            if migrate {
                let plan = try SyncedDatabase.migrateKeys(databaseAt: file) { tables in
                    KeyMigration(try declarations(tables), form: form, source: ids)
                }
                if !json, !sql { try Self.write(plan) }
            }
            let check = try SyncedDatabase.check(databaseAt: file, declare: declarations)
            if json {
                try Console.output.write(json: check)
            } else if sql {
                for statement in check.script { try Console.output.write(statement + ";\n") }
            } else {
                try write(check)
            }
            if !check.isReady { throw ExitCode(CommandFailure.Status.data.rawValue) }
        } catch let error as StoreError where error.code == .notFound {
            throw CommandFailure(.noInput, error.message)
        } catch let error as StoreError where [.notAStore, .corrupt, .tableRejected].contains(error.code) {
            throw CommandFailure(.data, error.message, details: error.details)
        }
    }

    // MARK: Declarations

    private static let tablesOfNotes = ["note", "attachment", "note_search_state"]

    private func declarations(_ tables: [String: [String]]) throws -> [TrackedTable] {
        if Self.tablesOfNotes.allSatisfy(tables.keys.contains) {
            throw CommandFailure(.data, "\(file) is a file of Kith's own notes, whose tables synchronise as they are. Nothing was changed.")
        }
        let names = table.isEmpty ? tables.keys.sorted() : table
        for (option, columns) in [("--set", set), ("--counter", counter), ("--text", text), ("--key", key)] {
            for name in columns where !names.contains(where: { tables[$0]?.contains(Self.column(name, of: $0) ?? "") == true }) {
                throw CommandFailure(.usage, "\(option) \(name): no table that is looked at has this column. Write TABLE.COLUMN.")
            }
        }
        return names.map { name in
            func columns(_ all: [String]) -> [String] { all.compactMap { Self.column($0, of: name) } }
            let keys = columns(key)
            return TrackedTable(
                name, sets: columns(set), counters: columns(counter), texts: columns(text), key: keys.isEmpty ? nil : keys)
        }
    }

    /// Both names may have dots.
    private static func column(_ name: String, of table: String) -> String? {
        name.hasPrefix(table + ".") ? String(name.dropFirst(table.count + 1)) : nil
    }

    // MARK: Words

    private static func write(_ plan: KeyMigration.Plan) throws {
        if plan.isEmpty { return try Console.output.writeLine("All rows have UUIDs already.") }
        for table in plan.tables {
            let rows = table.rows == 1 ? "1 row" : "\(table.rows) rows"
            let changes = (table.key.map { ["new ids in \($0)"] } ?? []) + table.references.sorted(by: <).map { "\($0) follows \($1)" }
            try Console.output.writeLine(PlainText.line("\(table.name), \(rows): \(changes.joined(separator: ", "))"))
        }
        for note in plan.notes { try Console.output.writeLine("  " + PlainText.line(note)) }
    }

    private func write(_ check: SchemaCheck) throws {
        let output = Console.output
        for table in check.tables {
            let problems = check.problems.filter { $0.table == table }
            if problems.isEmpty {
                try output.writeLine(PlainText.line("\(table): ready"))
                continue
            }
            try output.writeLine(PlainText.line("\(table): \(problems.count == 1 ? "1 thing" : "\(problems.count) things") to change"))
            for problem in problems {
                try output.writeLine(PlainText.line("  * " + problem.message))
                if let sql = problem.sql {
                    for line in sql.split(separator: "\n") { try output.writeLine("      " + PlainText.line(String(line))) }
                }
                if let declaration = problem.declaration { try output.writeLine(PlainText.line("      in Swift: " + declaration)) }
            }
        }
        if check.isReady { return try output.writeLine("All of these can synchronise as they are.") }
        if let keys = check.keys {
            let tables = keys.tables.compactMap { $0.key == nil ? nil : $0.name }
            try output.writeLine(
                PlainText.line("New ids for \(tables.joined(separator: ", ")): kith check --migrate on a copy, or KeyMigration in the app.")
            )
        }
        if !check.script.isEmpty { try output.writeLine("The rest as one migration step: kith check --sql") }
    }
}

extension KeyForm: ExpressibleByArgument {}
extension KeyMigration.Source: ExpressibleByArgument {}
