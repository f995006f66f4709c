import ArgumentParser
import Foundation
import Kith
import KithNotes
import Logging

struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Keep the notes in step with the trusted machines, until Ctrl-C.",
        discussion: """
            Works without any network, too: it waits and catches up when a machine appears. Other commands may be used \
            meanwhile; what they change is sent on at once. One such node runs for one file of notes.

            EXAMPLES
              kith up
              kith up --port 4747 --no-discovery
              kith up --json | jq .sentence
            """)

    @Option(help: "The port to listen on; 0 for any that is free. Without it, 4747 if that is free.")
    var port: Int?

    @Flag(help: "Neither announce this machine nor look for others by mDNS.")
    var noDiscovery = false

    @Flag(help: "Also say what happens on the network, on standard error.")
    var verbose = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port needs a number from 0 to 65535.") }
    }

    func run() async throws {
        let signals = StopSignals()
        let folders = try options.folders()
        let key = try DeviceKey.loadOrCreate(in: folders.identity)
        let trust = try TrustStore(in: folders.identity, ownID: key.id)
        let notes = try NotesStore.open(folders.notes)
        // Before anything is shown that would not be true.
        try notes.store.takeNodeLock().release()
        let display = StatusDisplay(.output, asJSON: options.json)
        let node = Node(
            store: notes.store, key: key, trust: trust, configuration: nodeConfiguration,
            logger: ConsoleLog.logger(isVerbose: verbose, display))
        if !options.json {
            display.show(line: "kith \(KithCommand.version), device \(key.id.shortDescription), notes in \(folders.notes.path)")
        }
        let watch = options.json ? nil : ConflictWatch(notes, display) { DeviceNames(trust.devices) }
        try await Self.run(node, until: signals.stream, showing: display, watch)
        try? notes.close()
    }

    private var nodeConfiguration: NodeConfiguration {
        var configuration = NodeConfiguration()
        configuration.port = port
        configuration.usesDiscovery = !noDiscovery
        configuration.software = "kith/\(KithCommand.version)"
        return configuration
    }

    /// Returns when a signal came and the node has stopped; throws what ends the node before.
    private static func run(
        _ node: Node, until signals: AsyncStream<Void>, showing display: StatusDisplay, _ watch: ConflictWatch?
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await node.run() }
            group.addTask {
                for await _ in signals { break }
            }
            let shown = Task { for await status in node.statuses { display.show(status) } }
            let watched = Task { await watch?.run() }
            defer {
                group.cancelAll()
                shown.cancel()
                watched.cancel()
                display.finish()
            }
            try await group.next()
            StopSignals.exitIfNotDone()
        }
    }
}
