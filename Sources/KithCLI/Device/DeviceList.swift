import ArgumentParser
import Foundation
import Kith
import KithNotes

struct DeviceList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the machines that this one trusts, and what is known of them.",
        discussion: """
            When each was last met, the version of its software, how far its clock is off, and where it is reached; a dash stands for \
            what is not known.

            EXAMPLES
              kith device list
              kith device list --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let known = try options.withNotesIfReadable { notes in
            (peers: try options.runningNode()?.peers ?? [], members: try notes.store.members())
        }
        let role = Self.role(in: trust)
        let records = trust.devices.map { device in
            DeviceRecord(
                device, role: role, seen: known?.peers.first { $0.deviceID == device.id.description },
                lastSeenMilliseconds: known?.members.first { $0.device == device.id.bytes && $0.replica != nil }?.seenMilliseconds)
        }
        if options.json { return try Console.output.write(json: records) }
        try Self.table(of: records, nowMilliseconds: Int64(Date().timeIntervalSince1970 * 1_000)).write(to: .output)
        if trust.standing == .joining, Console.output.isTerminal {
            try Console.error.writeLine("This machine joins a household, and waits to hear from a member.")
        }
        if records.isEmpty, Console.output.isTerminal {
            try Console.error.writeLine("No other machine is trusted. Add one: kith pair, here and there")
        }
    }

    /// Why the devices are trusted. Those of a machine that joins a household may have been added by hand before.
    private static func role(in trust: TrustStore) -> String? {
        switch trust.standing {
        case .member: "member"
        case .listed: addedByHand
        case .joining, .alone, .removed, .left: nil
        }
    }

    private static let addedByHand = "addedByHand"

    private static func table(of records: [DeviceRecord], nowMilliseconds now: Int64) -> TextTable {
        var table = TextTable(header: ["NAME", "ID", "LAST SEEN", "SOFTWARE", "CLOCK", "ADDRESSES"], flexibleColumns: 0, 5)
        table.rows = records.map { record in
            let seen =
                record.isConnected ? "now" : record.lastSeenMilliseconds.flatMap(TimeText.init(milliseconds:))?.ago(nowMilliseconds: now)
            let addresses = record.allAddresses.joined(separator: ", ")
            return [
                .init((record.name.isEmpty ? "(no name)" : record.name) + (record.role == addedByHand ? " (by hand)" : ""), .bold),
                .init(String(record.id.prefix(11))), .init(seen ?? "-", record.isConnected ? .green : nil),
                .init(record.software ?? "-", .dim), .init(record.clock ?? "-", record.clockOffsetMilliseconds == nil ? .dim : .yellow),
                .init(addresses.isEmpty ? "-" : addresses),
            ]
        }
        return table
    }
}
