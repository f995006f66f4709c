import ArgumentParser
import Foundation
import Kith
import KithFiles
import KithNotes
import KithReport
import KithWeb
import Logging

struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Keep the notes in step with the trusted machines, until Ctrl-C.",
        discussion: """
            Works without any network, too: it waits and catches up when a machine appears. Other commands may be used \
            meanwhile; what they change is sent on at once. Folders of `kith folder` are kept in step, and the page of `kith web` is served. One such \
            node runs for one file of notes.

            EXAMPLES
              kith up
              kith up --port 4747 --no-discovery
              kith up --json | jq .sentence
              kith up --on-change 'jq -r ".changed[].title" | xargs -r -d "\\n" notify-send'
              kith up --install                  from now on by itself, as a service of systemd
            """)

    @Option(help: "The port to listen on; 0 for any that is free. Without it, 4747 if that is free.")
    var port: Int?

    @Flag(help: "Neither announce this machine nor look for others by mDNS.")
    var noDiscovery = false

    @Option(
        help: ArgumentHelp(
            "Run this with the shell after notes have changed, here or elsewhere; standard input says which, as JSON.",
            valueName: "command"))
    var onChange: String?

    @Flag(help: "Do not serve the page of `kith web`.")
    var noWeb = false

    @Flag(help: "Start it now and at each login, as a service of systemd, with these options.")
    var install = false

    @Flag(help: "End that and remove the service. The notes stay.")
    var uninstall = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if install, uninstall { throw ValidationError("Either --install or --uninstall, not both.") }
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port needs a number from 0 to 65535.") }
    }

    func run() async throws {
        if install { return try installService() }
        if uninstall { return try uninstallService() }
        let signals = StopSignals()
        let folders = try options.folders()
        let key = try DeviceKey.loadOrCreate(in: folders.identity)
        let trust = try TrustStore(in: folders.identity, ownID: key.id)
        let notes = try NotesStore.open(folders.notes, options: folders.notesOptions)
        // A node that was killed may have merged what it did not look at any more. If this fails, it is tried after the next merge.
        _ = try? notes.bringBackAttachments()
        // Before anything is shown that would not be true.
        try notes.store.takeNodeLock().release()
        let display = StatusDisplay(.output, asJSON: options.json)
        let node = Node(
            store: notes.store, key: key, trust: trust, configuration: nodeConfiguration,
            logger: ConsoleLog.logger(isVerbose: options.verbose, display))
        if !options.json {
            display.show(line: "kith \(KithCommand.version), device \(key.id.shortDescription), notes in \(folders.notes.path)")
        }
        let watch = options.json ? nil : ConflictWatch(notes, display) { trust.deviceNames }
        let start = try notes.store.vector()
        let hook = onChange.map { ChangeHook(command: $0, notes: notes) { display.show(line: "kith: \($0)", on: .error) } }
        var pageConfiguration = PageConfiguration(folders)
        pageConfiguration.usesDiscovery = !noDiscovery
        let page = noWeb ? nil : UpPage(notes, pageConfiguration) { display.show(line: $0, on: options.json ? .error : nil) }
        let keeper = FolderKeeper(notes) { display.show(line: "kith: \($0)", on: .error) }
        let others = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await watch?.run() }
                group.addTask { await hook?.run(since: start) }
                group.addTask { await keeper.run() }
                group.addTask { await page?.run() }
                if noWeb { group.addTask { await notes.keepSearchIndex() } }
                #if os(Linux)
                group.addTask { await ProgramPages.run() }
                #endif
            }
        }
        defer { others.cancel() }
        let place = NotesPlace(file: folders.notes, notes: notes)
        do {
            try await Self.run(node, in: place, until: signals.stream, showing: display)
        } catch is NotesPlace.Gone {
            others.cancel()
            await others.value
            throw place.rescue()
        }
        // Nothing may read while the file is closed: GRDB would hand out a connection that is gone.
        others.cancel()
        await others.value
        try? notes.close()
    }

    private var nodeConfiguration: NodeConfiguration {
        var configuration = NodeConfiguration(app: NotesStore.app)
        configuration.port = port
        configuration.usesDiscovery = !noDiscovery
        configuration.software = "kith/\(KithCommand.version)"
        return configuration
    }

    // MARK: The service

    private func installService() throws {
        guard let program = Bundle.main.executablePath else {
            throw CommandFailure(.software, "Where this program is cannot be found out.")
        }
        var arguments = port.map { ["--port", String($0)] } ?? []
        if noDiscovery { arguments.append("--no-discovery") }
        if noWeb { arguments.append("--no-web") }
        if let onChange { arguments += ["--on-change", onChange] }
        // The service has a working folder of its own.
        if options.store != nil { arguments += ["--store", try options.folders().notes.absoluteURL.path] }
        let service = try UserService()
        try service.install(program: program, arguments: arguments)
        try Console.output.writeLine(
            """
            kith up runs now and at each login: \(service.unit.path). `systemctl --user status kith` shows it.
            To have it run while nobody is logged in, too: loginctl enable-linger
            """)
    }

    private func uninstallService() throws {
        let wasThere = try UserService().uninstall()
        let notes = try options.folders().notes.path
        try Console.output.writeLine(
            wasThere
                ? "The service is removed. The notes stay in \(notes)." : "No service of kith is installed here. The notes are in \(notes)."
        )
    }

    // MARK: The node

    /// Returns when a signal came and the node has stopped; throws what ends the node before.
    private static func run(
        _ node: Node, in place: NotesPlace, until signals: AsyncStream<Int32>, showing display: StatusDisplay
    ) async throws {
        let notice = ServiceNotice()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await node.run() }
            group.addTask { try await place.keep() }
            group.addTask {
                for await _ in signals { break }
            }
            let shown = Task {
                var told: String?
                for await status in node.statuses {
                    display.show(status.inCommands)
                    // Not every change of the status is one of what it says.
                    guard let notice, status.state != .stopped, status.sentence != told else { continue }
                    if told == nil { notice.ready() }
                    told = status.sentence
                    notice.status(status.sentence)
                }
            }
            defer {
                group.cancelAll()
                shown.cancel()
                display.finish()
            }
            try await group.next()
            notice?.stopping()
            StopSignals.exitIfNotDone()
        }
    }
}
