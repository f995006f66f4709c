import ArgumentParser
import Foundation
import Kith

struct DeviceList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the machines that this one trusts, and what is known of them.",
        discussion: """
            EXAMPLES
              kith device list
              kith device list --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let devices = try options.trust().devices
        let peers = StatusFile(forStore: try options.folders().notes).read()?.peers ?? []
        let seen = { (device: TrustedDevice) in peers.first { $0.deviceID == device.id.description } }
        if options.json { return try Console.output.write(json: devices.map { DeviceRecord($0, seen: seen($0)) }) }
        var table = TextTable(header: ["NAME", "ID", "SINCE", "LAST IN STEP", "SOFTWARE", "CLOCK", "ADDRESSES"], flexibleColumn: 6)
        table.rows = devices.map { device in
            let peer = seen(device)
            let addresses = device.addresses.map(\.description)
            return [
                .init(device.name.isEmpty ? "(no name)" : device.name, .bold), .init(device.id.shortDescription),
                .init(TimeText(milliseconds: Int64(clamping: Int(device.added.timeIntervalSince1970) * 1_000))?.local ?? "unknown", .dim),
                .init(peer?.lastSyncMilliseconds.flatMap(TimeText.init(milliseconds:))?.local ?? ""),
                .init(peer?.software ?? ""), .init(peer.map(Self.clock) ?? ""),
                .init((addresses + (peer?.address.map { addresses.contains($0) ? [] : [$0] } ?? [])).joined(separator: ", ")),
            ]
        }
        try table.write(to: .output)
        if devices.isEmpty, Console.output.isTerminal {
            try Console.error.writeLine("No other machine is trusted. Add one: kith pair, here and there")
        }
    }

    /// How far its clock is off, if that matters.
    private static func clock(of peer: NodeStatus.Peer) -> String {
        guard let offset = peer.clockOffsetMilliseconds else { return peer.state == .connected ? "right" : "" }
        return "\(offset.magnitude / 1_000) s \(offset > 0 ? "ahead" : "behind")"
    }
}
