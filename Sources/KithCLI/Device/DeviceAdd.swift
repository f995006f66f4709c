import ArgumentParser
import Foundation
import Kith

struct DeviceAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Trust a machine, by the id that it shows.",
        discussion: """
            A machine that is trusted already gets the name and gains the address.

            EXAMPLES
              kith device add ID --name laptop
              kith device add ID --name attic --address 10.0.0.7:4747
              kith device add ID --forget-addresses --address 10.0.0.8:4747
            """)

    @Argument(help: "What `kith device id` shows on the other machine.")
    var id: String

    @Option(parsing: .unconditional, help: "What you call it.")
    var name: String?

    @Option(help: "HOST:PORT, where it is reached without mDNS; may be given several times.")
    var address: [String] = []

    @Flag(help: "Forget the addresses that it was given before.")
    var forgetAddresses = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        if let name { try DeviceNameOption.check(name) }
    }

    func run() throws {
        let other = try DeviceID(parsing: id)
        let trust = try options.trust()
        let addresses = try address.map { try PeerAddress(typed: $0) }
        let wasTrusted = trust.isTrusted(other)
        let given = try TrustedDevice(id: other, name: name ?? "", addresses: addresses, added: Date())
        if forgetAddresses, wasTrusted { try trust.forgetAddresses(of: other) }
        let device = try trust.add(given)
        if options.json { return try Console.output.write(json: DeviceRecord(device)) }
        if wasTrusted {
            let noted = addresses.isEmpty ? "" : " Its address was noted."
            return try Console.output.writeLine("This machine trusts \(PlainText.line(device.label)) already.\(noted)")
        }
        try Console.output.writeLine("This machine trusts \(PlainText.line(device.label)).")
        if trust.standing == .member {
            try Console.output.writeLine("It joins the household when it meets a machine that it trusts.")
        }
        try Console.output.writeLine("The other one must trust this one too. There:\n  kith device add \(trust.ownID)")
    }
}
