import Foundation

/// One scenario of a merge file. See the specification beside the vectors.
struct MergeScenario: Decodable {
    let name: String
    let replicas: [String]
    let deletePolicy: String
    let steps: [Step]

    struct Step: Decodable {
        /// The replica that commits; `nil` for a synchronisation.
        let commit: String?
        let now: UInt64?
        let ops: [Operation]?
        /// From, to.
        let sync: [String]?
        /// The replica whose table held `rows` when it was first tracked.
        let adopt: String?
        /// The replica that runs `ops` as a migration step.
        let migrate: String?
        let rows: [String: [String: Content]]?
    }

    struct Operation: Decodable, Sendable {
        let op: String
        let row: String
        let columns: [String: Content]?
    }

    enum Content: Decodable, Sendable {
        case integer(Int64)
        case string(String)
        case list([String])
        case count(Int64)

        private struct Count: Decodable {
            let count: Int64
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                self = .integer(number)
            } else if let string = try? container.decode(String.self) {
                self = .string(string)
            } else if let list = try? container.decode([String].self) {
                self = .list(list)
            } else {
                self = .count(try container.decode(Count.self).count)
            }
        }
    }
}
