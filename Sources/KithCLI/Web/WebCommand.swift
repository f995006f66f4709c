import ArgumentParser
import Foundation
import KithNotes
import KithWeb

struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show the notes in a browser.",
        discussion: """
            Serves a page on this machine alone, until Ctrl-C, and prints its address. The address lets in one browser, once; that browser \
            is known for thirty days. If a page is served already, this prints a new address of it and ends.

            EXAMPLES
              kith web
              kith web --open                    in the browser of the desktop
              kith web --port 8080
              kith web --sign-out                no browser is known any more
            """)

    @Option(help: "The port to listen on; 0 for any that is free. Without it, 4780 if that is free.")
    var port: Int?

    @Flag(help: "Open the page in the browser, too.")
    var open = false

    @Flag(help: "Make every browser need a new address.")
    var signOut = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port needs a number from 0 to 65535.") }
        if signOut, open || port != nil { throw ValidationError("--sign-out is for itself.") }
    }

    func run() async throws {
        let folders = try options.folders()
        var configuration = PageConfiguration(folders)
        configuration.port = port
        if signOut {
            try configuration.signOutAll()
            return try Console.output.writeLine("No browser is known any more. `kith web` prints a new address.")
        }
        let (asJSON, opens) = (options.json, open)
        if let page = RunningPage.current(in: configuration.folder) { return try Self.show(page, asJSON: asJSON, opens: opens) }
        let signals = StopSignals()
        let stops = signals.stream
        let notes = try NotesStore.open(folders.notes, options: folders.notesOptions)
        let page = NotesPage(notes, configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await page.run { try? Self.show($0, asJSON: asJSON, opens: opens) } }
            group.addTask {
                for await _ in stops { break }
            }
            defer { group.cancelAll() }
            try await group.next()
            StopSignals.exitIfNotDone()
        }
        withExtendedLifetime(signals) { try? notes.close() }
    }

    private static func show(_ page: RunningPage, asJSON: Bool, opens: Bool) throws {
        guard let entrance = page.entrance else { return }
        if asJSON {
            try Console.output.write(json: ["address": page.address, "entrance": entrance.absoluteString], isCompact: true)
        } else {
            try Console.output.writeLine(entrance.absoluteString)
        }
        if opens { Browser.open(entrance) }
    }
}

extension PageConfiguration {
    init(_ folders: Folders) {
        self.init(identity: folders.identity, notesFile: folders.notes, software: KithCommand.configuration.version)
    }
}
