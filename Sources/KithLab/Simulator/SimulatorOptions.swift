import Foundation
import KithStore
import KithTesting

/// What the command line asks for.
public struct SimulatorOptions {
    public static let usage = """
        Usage: kith-sim [--schema FILE] [--nodes N] [--seeds N] [--first SEED] [--ops N] [--faults A,B,…] [--trace] [--hash]
               kith-sim --script FILE [--schema FILE] [--trace]

        Runs seeded simulations of machines that synchronise the tables of a schema, and prints the shortest script it can
        find for each seed that breaks a promise. Exits with 1 if one did.

          --schema FILE       SQL that creates the tables; every table with a BLOB primary key synchronises
          --set TABLE.COLUMN, --counter TABLE.COLUMN, --text TABLE.COLUMN, --delete-wins TABLE
                              how columns and tables merge
          --faults A,B        of: \(Fault.allCases.map(\.rawValue).joined(separator: ", ")); "none" for a perfect world
          --trace             print what happened; with --first SEED of that seed
          --report            print what a commit costs with 3 to 64 nodes
          --hash              print the trace hash of each seed
          --stop              stop at the first seed that breaks a promise, and do not shrink it

        """

    public struct Unusable: Error, CustomStringConvertible {
        public let description: String
    }

    /// So that seeds can be counted from there.
    private static let seedMax = UInt64(Int64.max)

    var schemaPath: String?
    var scriptPath: String?
    var nodeCount = 5
    var seedCount: UInt64 = 100
    var firstSeed: UInt64 = 0
    var commitCount = 200
    var faults: [Fault]?
    var sets: [String] = []
    var counters: [String] = []
    var texts: [String] = []
    var deleteWins: [String] = []
    var printsTrace = false
    var printsHashes = false
    var reportsScale = false
    var stopsAtFirst = false

    public init(_ arguments: some Sequence<String>) throws {
        var arguments = Array(arguments)[...]
        var others: [String] = []
        while let name = arguments.popFirst() {
            switch name {
            case "--trace": printsTrace = true
            case "--hash": printsHashes = true
            case "--report": reportsScale = true
            case "--stop": stopsAtFirst = true
            case "--help": throw Unusable(description: Self.usage)
            default:
                guard let value = arguments.popFirst() else { throw Unusable(description: "\(name) needs a value.\n\n" + Self.usage) }
                try set(name, value)
            }
            if name != "--report" { others.append(name) }
        }
        guard !reportsScale || others.isEmpty else {
            throw Unusable(description: "--report has its own schema, nodes and commits: leave out \(others.joined(separator: ", ")).")
        }
    }

    private mutating func set(_ name: String, _ value: String) throws {
        func number() throws -> Int {
            guard let number = Int(value), number > 0 else { throw Unusable(description: "\(name) \(value): a positive number is needed.") }
            return number
        }
        switch name {
        case "--schema": schemaPath = value
        case "--script": scriptPath = value
        case "--nodes": nodeCount = min(try number(), Script.nodesMax)
        case "--seeds": seedCount = UInt64(try number())
        case "--first":
            guard let seed = UInt64(value), seed <= Self.seedMax else {
                throw Unusable(description: "--first \(value): a number from 0 to \(Self.seedMax) is needed.")
            }
            firstSeed = seed
        case "--ops": commitCount = try number()
        case "--set": sets.append(value)
        case "--counter": counters.append(value)
        case "--text": texts.append(value)
        case "--delete-wins": deleteWins.append(value)
        case "--faults":
            faults = try value.split(separator: ",").filter { $0 != "none" }.map { word in
                guard let fault = Fault(rawValue: String(word)) else { throw Unusable(description: "There is no fault \(word).") }
                return fault
            }
        default: throw Unusable(description: "There is no option \(name).\n\n" + Self.usage)
        }
    }
}
