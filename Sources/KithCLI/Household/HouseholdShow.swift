import ArgumentParser
import Kith

struct HouseholdShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show which household this machine is in, and who else is.",
        discussion: """
            EXAMPLES
              kith household show
              kith household show --json
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let trust = try options.trust()
        let report = HouseholdReport(trust)
        if options.json { return try Console.output.write(json: report) }
        try Console.output.writeLine(report.sentence)
        if let remedy = report.remedy { try Console.output.writeLine(remedy) }
        guard !report.members.isEmpty else { return }
        let names = trust.deviceNames
        var table = TextTable(header: ["NAME", "ID", "ADDED", "ADDED BY"], flexibleColumns: 0)
        table.rows = report.members.map { member in
            [
                .init((member.name.isEmpty ? "(no name)" : member.name) + (member.isThisDevice ? " (this machine)" : ""), .bold),
                .init(String(member.id.prefix(11))), .init(TimeText(milliseconds: member.addedMilliseconds)?.local ?? "unknown", .dim),
                .init(report.members.first { $0.id == member.addedBy }?.name ?? DeviceID(member.addedBy).map { names[$0] } ?? "", .dim),
            ]
        }
        try Console.output.writeLine("")
        try table.write(to: .output)
    }
}

/// What `kith household show` says.
struct HouseholdReport: Encodable {
    struct Member: Encodable {
        let id: String
        let name: String
        let isThisDevice: Bool
        let addedMilliseconds: Int64
        let addedBy: String
    }

    let standing: String
    let household: String?
    let sentence: String
    let remedy: String?
    let members: [Member]

    init(_ trust: TrustStore) {
        standing = "\(trust.standing)"
        household = trust.household?.id.description
        members = (trust.household?.membership.members ?? []).map { member in
            Member(
                id: member.id.description, name: member.name, isThisDevice: member.id == trust.ownID,
                addedMilliseconds: member.addedMilliseconds, addedBy: member.addedBy.description)
        }
        let name = household ?? "none"
        switch trust.standing {
        case .alone:
            sentence = "No household: this machine is by itself."
            remedy = "To share its notes, run `kith pair` on this machine and another one."
        case .listed:
            sentence = "No household: this machine trusts the devices that were added by hand."
            remedy = "It joins the household of one of them as soon as there is one."
        case .joining:
            sentence = "Joining household \(name): this machine waits to hear from a member."
            remedy = "Let `kith up` run here and on the machine that it was paired with."
        case .member:
            sentence = "Household \(name)."
            remedy =
                trust.household?.isImported == true
                ? "This identity was imported and changes nothing until it has met another member: let `kith up` run here and there." : nil
        case .left:
            sentence = "No household: this machine has left household \(name). Its notes are all here."
            remedy = "The others hear of it when `kith up` runs here and meets one of them. To forget it at once, leave again."
        case .removed:
            sentence = "This machine was removed from household \(name). Its notes are all here."
            remedy = "To come back, run `kith pair` here and on a machine of the household; to stay alone, `kith household leave`."
        }
    }
}
