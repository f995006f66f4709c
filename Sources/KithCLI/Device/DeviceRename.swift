import ArgumentParser
import Foundation
import Kith

struct DeviceRename: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Call a machine something else; in a household, on all of them.",
        discussion: """
            EXAMPLES
              kith device rename laptop "Old laptop"
              kith device rename this "Study desk"     in a household
            """)

    @Argument(help: "The name, the id, or the beginning of the id; `this` for this machine.")
    var device: String

    @Argument(help: "The new name.")
    var name: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let device = try trust.isOwn(device) ? trust.ownDevice : trust.find(device)
        try trust.rename(device.id, to: name)
        let renamed = try TrustedDevice(id: device.id, name: name, addresses: device.addresses, added: device.added)
        if options.json { return try Console.output.write(json: DeviceRecord(renamed)) }
        try Console.output.writeLine("\(PlainText.line(device.label)) is now \(PlainText.line(renamed.label)).")
    }

    func validate() throws { try DeviceNameOption.check(name) }
}

extension TrustStore {
    /// Whether a person means this very machine: by `this`, its id, the beginning of its id, or its name in the household.
    func isOwn(_ reference: String) -> Bool {
        if reference == "this" { return true }
        let own = household?.membership.members.first { $0.id == ownID }
        let isNamed = own.map { !$0.name.isEmpty && $0.name.utf8.elementsEqual(reference.utf8) } ?? false
        if isNamed { return !devices.contains { $0.name.utf8.elementsEqual(reference.utf8) } }
        let prefix = reference.uppercased().filter { $0 != "-" && $0 != " " }
        return prefix.count >= 5 && ownID.description.filter { $0 != "-" }.hasPrefix(prefix)
    }

    /// This machine, as the household knows it.
    fileprivate var ownDevice: TrustedDevice {
        get throws {
            guard standing == .member, let own = household?.membership.members.first(where: { $0.id == ownID }) else {
                throw CommandFailure(
                    .noInput,
                    "This machine is in no household, so nobody knows a name of it. It gets one when it is paired: kith pair --name NAME")
            }
            return try TrustedDevice(
                id: own.id, name: own.name, added: Date(timeIntervalSince1970: TimeInterval(own.addedMilliseconds) / 1_000))
        }
    }
}
