import ArgumentParser
import Foundation
import KithNotes
import KithWeb

struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show the notes in a browser.",
        discussion: """
            Serves a page on this machine alone, or with --lan to its network, until Ctrl-C, and prints its address. The address lets in one browser, once; that browser \
            is known for thirty days. If a page is served already, this prints a new address of it and ends.

            EXAMPLES
              kith web
              kith web --open                    in the browser of the desktop
              kith web --port 8080
              kith web --lan                     for a phone in this network
              kith web --sign-out                no browser is known any more
            """)

    @Option(help: "The port to listen on; 0 for any that is free. Without it, 4780 if that is free, and 4781 with --lan.")
    var port: Int?

    @Flag(help: "Serve it to the network that this machine is in, over HTTPS, with a QR code for a phone.")
    var lan = false

    @Flag(help: "Open the page in the browser, too.")
    var open = false

    @Flag(help: "Make every browser need a new address.")
    var signOut = false

    @Flag(help: "Neither announce this machine nor look for others by mDNS, when it is paired from the page.")
    var noDiscovery = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port needs a number from 0 to 65535.") }
        if lan, open { throw ValidationError("--open is for a browser of this machine, which needs no --lan.") }
        if signOut, open || lan || port != nil { throw ValidationError("--sign-out is for itself.") }
    }

    func run() async throws {
        let folders = try options.folders()
        var configuration = PageConfiguration(folders)
        configuration.port = port
        configuration.usesDiscovery = !noDiscovery
        if signOut {
            do {
                try configuration.signOutAll()
            } catch {
                throw CommandFailure(
                    .cannotCreate,
                    "Nobody was signed out: the key in \(configuration.folder.path) cannot be removed. Is the disk read-only?")
            }
            return try Console.output.writeLine("No browser is known any more. `kith web` prints a new address.")
        }
        if lan { configuration = configuration.onLocalNetwork }
        let (asJSON, opens) = (options.json, open)
        if let page = RunningPage.current(in: configuration.folder) { return try Self.show(page, asJSON: asJSON, opens: opens) }
        let signals = StopSignals()
        let stops = signals.stream
        let notes = try NotesStore.open(folders.notes, options: folders.notesOptions)
        let page = NotesPage(notes, configuration)
        let place = NotesPlace(file: folders.notes, notes: notes)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await page.run { try? Self.show($0, asJSON: asJSON, opens: opens) } }
                group.addTask { try await place.keep() }
                group.addTask {
                    for await _ in stops { break }
                }
                defer { group.cancelAll() }
                try await group.next()
                StopSignals.exitIfNotDone()
            }
        } catch is NotesPlace.Gone {
            throw place.rescue()
        }
        withExtendedLifetime(signals) { try? notes.close() }
    }

    private static func show(_ page: RunningPage, asJSON: Bool, opens: Bool) throws {
        guard let entrance = page.entrance else { return }
        if asJSON {
            var fields = ["address": page.address, "entrance": entrance.absoluteString]
            fields["fingerprint"] = page.fingerprint
            try Console.output.write(json: fields, isCompact: true)
        } else if let fingerprint = page.fingerprint {
            try show(entrance, fingerprint)
        } else {
            try Console.output.writeLine(entrance.absoluteString)
        }
        if opens { Browser.open(entrance) }
    }

    /// For a person with another device in the hand.
    private static func show(_ entrance: URL, _ fingerprint: String) throws {
        let console = Console.output
        try console.writeLine("Open this on the other device, in the same network. It lets in one browser, once:")
        try console.writeLine("  \(entrance.absoluteString)")
        for line in QRScreen.lines(for: entrance.absoluteString, on: console) ?? [] { try console.writeLine(line) }
        try console.writeLine(
            """
            The browser will warn that it does not know this machine: nobody vouches for
            an address at home. The warning shows the certificate. If its fingerprint
            (SHA-256) is this, nobody stands in between, and you can go on:
              \(fingerprint)
            Whoever is let in can do with the notes what you can. Ctrl-C ends it.
            """)
    }
}

extension PageConfiguration {
    init(_ folders: Folders) {
        self.init(identity: folders.identity, notesFile: folders.notes, software: KithCommand.configuration.version)
    }
}
