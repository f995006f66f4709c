import Yams

/// Reads scenario files, and says everything that is wrong with one.
package final class ScenarioReader {
    var problems: [ScenarioProblem] = []
    /// The nodes of the file, in its order.
    var nodeNames: [String] = []
    /// The nodes with a disk of their own.
    var nodesWithDisks: Set<Int> = []
    var topology = Scenario.Topology.mesh
    var lastsMilliseconds: Int64 = 0
    /// The writes of its events, in its order.
    var writes: [PlacedWrite] = []
    /// What takes notes away and brings them back, and the event it stands in, in the order of the file.
    var losses: [(at: Int64, action: Scenario.Action, place: Yams.Node)] = []

    /// The scenario of a file's text.
    ///
    /// - Parameter name: what the scenario is called if the file does not say.
    /// - Throws: ``ScenarioError`` with every problem that was found.
    package static func read(_ text: String, name: String) throws(ScenarioError) -> Scenario {
        let reader = ScenarioReader()
        guard let root = reader.compose(text) else { throw ScenarioError(problems: reader.problems) }
        let scenario = reader.scenario(root, name: name)
        guard reader.problems.isEmpty, let scenario else {
            throw ScenarioError(problems: reader.problems.sorted { $0.line < $1.line })
        }
        return scenario
    }

    private func compose(_ text: String) -> Yams.Node? {
        do {
            if let root = try Yams.compose(yaml: text), root.mapping != nil { return root }
            problems.append(ScenarioProblem(line: 1, message: "This is no scenario: a mapping with nodes, lasts and in is expected."))
        } catch let error as YamlError {
            problems.append(ScenarioProblem(error))
        } catch {
            problems.append(ScenarioProblem(line: 1, message: "\(error)"))
        }
        return nil
    }

    private func scenario(_ root: Yams.Node, name: String) -> Scenario? {
        var fields = Fields(root, "a scenario")
        let nodes = nodes(fields.take("nodes"), at: root)
        nodeNames = nodes.map(\.name)
        nodesWithDisks = Set(nodes.indices.filter { nodes[$0].diskBytes != nil })
        topology = fields.take("topology").flatMap { choice($0, Scenario.Topology.self, "topology") } ?? .mesh
        let lasts = required(fields.take("lasts"), "lasts", root)
        lastsMilliseconds = lasts
        let takes = fields.take("in").flatMap { time($0, "in") } ?? lasts
        if takes <= 0 { report(root, "A scenario takes some time: \u{201C}in\u{201D} is more than 0.") }
        let link = fields.take("link").map { self.link($0, like: Scenario.Link()) } ?? Scenario.Link()
        let scenario = Scenario(
            name: fields.take("name").flatMap(text) ?? name, about: fields.take("about").flatMap(text) ?? "",
            lastsMilliseconds: lasts, takesMilliseconds: takes,
            settleMilliseconds: fields.take("settle").flatMap { time($0, "settle") } ?? 60_000,
            seed: fields.take("seed").flatMap(number).map { UInt64($0) } ?? 1, nodes: nodes,
            topology: topology, link: link,
            links: links(fields.take("links"), like: link), workloads: list(fields.take("writes")).compactMap { workload($0) },
            events: list(fields.take("events")).flatMap { events($0) }, binaries: binaries(fields.take("binaries")),
            trust: fields.take("trust").flatMap { choice($0, Scenario.Trust.self, "trust") } ?? .devices)
        reject(fields)
        check(scenario, root)
        return scenario
    }

    private func check(_ scenario: Scenario, _ root: Yams.Node) {
        if scenario.trust == .household, ![.mesh, .star].contains(scenario.topology) {
            report(root, "In a household each machine is paired with the first, which it does not hear in a \(scenario.topology.rawValue).")
        }
        for node in scenario.nodes {
            if let binary = node.binary, scenario.binaries[binary] == nil {
                report(root, "Node \(node.name) runs \(binary), which \u{201C}binaries\u{201D} does not list.")
            }
        }
        let drawn = scenario.workloads.reduce(0.0) { count, workload in
            count + Double(workload.untilMilliseconds - workload.fromMilliseconds) / Double(max(1, workload.everyMilliseconds))
        }
        if drawn + Double(scenario.events.count) > Double(Scenario.stepsMax) {
            let help = scenario.events.count > Scenario.stepsMax ? "Leave out some events." : "Let the writes come less often."
            report(root, "This makes more than \(Scenario.stepsMax) steps. \(help)")
        }
        // An addition or a loss in a part that could not be read would be missed.
        if problems.isEmpty {
            checkNotes(scenario)
            checkLosses()
        }
    }

    // MARK: Nodes and links

    private func nodes(_ node: Yams.Node?, at root: Yams.Node) -> [Scenario.Node] {
        guard let node else {
            report(root, "\u{201C}nodes\u{201D} is missing: name the machines, as in nodes: [desk, laptop].")
            return []
        }
        var nodes: [Scenario.Node] = []
        let entries: [(key: Yams.Node, value: Yams.Node?)]
        if let mapping = node.mapping {
            entries = mapping.map { ($0.key, $0.value.isNothing ? nil : $0.value) }
        } else {
            entries = list(node).map { ($0, nil) }
        }
        for (key, value) in entries {
            guard let name = text(key) else { continue }
            let isName = name.first?.isLetter == true && name.utf8.count <= 16
            if !isName || !name.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }) {
                report(key, "\u{201C}\(name)\u{201D} is no name for a node: up to 16 of a-z, 0-9 and -, a letter first.")
            }
            if name == "all" { report(key, "No node is called all, for events mean all of them by it.") }
            if nodes.contains(where: { $0.name == name }) { report(key, "There are two nodes called \(name).") }
            nodes.append(self.node(name, value))
        }
        if nodes.isEmpty || nodes.count > Scenario.nodesMax {
            report(node, "A scenario has 1 to \(Scenario.nodesMax) nodes, not \(nodes.count).")
        }
        return nodes
    }

    private func node(_ name: String, _ value: Yams.Node?) -> Scenario.Node {
        var spec = Scenario.Node(name: name)
        guard let value else { return spec }
        var fields = Fields(value, "a node")
        spec.diskBytes = fields.take("disk").flatMap { quantity($0, Quantity.bytes, "a size such as 8MB") }.map { Int($0) }
        if let bytes = spec.diskBytes, bytes < Scenario.diskBytesMin {
            report(value, "A disk has at least \(Quantity.size(Scenario.diskBytesMin)); on a smaller one a node cannot start.")
        }
        spec.clockMilliseconds = fields.take("clock").flatMap { signedTime($0) } ?? 0
        spec.binary = fields.take("binary").flatMap(text)
        reject(fields)
        return spec
    }

    private func links(_ node: Yams.Node?, like standard: Scenario.Link) -> [Scenario.Pair: Scenario.Link] {
        var links: [Scenario.Pair: Scenario.Link] = [:]
        for entry in list(node) {
            guard let (pair, link) = pairAndLink(entry, like: standard) else { continue }
            if links.updateValue(link, forKey: pair) != nil {
                report(entry, "The link between \(nodeNames[pair.first]) and \(nodeNames[pair.second]) is described twice.")
            }
        }
        return links
    }

    func pairAndLink(_ node: Yams.Node, like standard: Scenario.Link) -> (Scenario.Pair, Scenario.Link)? {
        var fields = Fields(node, "a link")
        guard let between = fields.take("between") else {
            report(node, "\u{201C}between\u{201D} is missing: say which two nodes, as in between: [desk, laptop].")
            return nil
        }
        let pair = pair(between)
        let link = link(fields, like: standard)
        return pair.map { ($0, link) }
    }

    private func link(_ node: Yams.Node, like standard: Scenario.Link) -> Scenario.Link {
        link(Fields(node, "a link"), like: standard)
    }

    private func link(_ rest: Fields, like standard: Scenario.Link) -> Scenario.Link {
        var fields = rest
        var link = standard
        if let delay = fields.take("delay").flatMap({ time($0, "delay") }) { link.delayMilliseconds = Double(delay) }
        if let jitter = fields.take("jitter").flatMap({ time($0, "jitter") }) { link.jitterMilliseconds = Double(jitter) }
        if let loss = fields.take("loss").flatMap({ quantity($0, Quantity.percent, "a share such as 2%") }) { link.lossPercent = loss }
        if let rate = fields.take("rate").flatMap({ quantity($0, Quantity.bitsPerSecond, "a rate such as 1Mbit") }) {
            link.bitsPerSecond = rate
        }
        reject(fields)
        return link
    }

    private func binaries(_ node: Yams.Node?) -> [String: String] {
        guard let node else { return [:] }
        var binaries: [String: String] = [:]
        for (key, value) in mapping(node) {
            if let name = text(key) { binaries[name] = value.isNothing ? "" : text(value) ?? "" }
        }
        return binaries
    }

    // MARK: Writes

    private func workload(_ node: Yams.Node) -> Scenario.Workload? {
        var fields = Fields(node, "a kind of writes")
        let (by, change) = (fields.take("by"), fields.take("change"))
        let nodes = by.map { self.nodes(named: $0) } ?? Array(nodeNames.indices)
        let every = required(fields.take("every"), "every", node)
        let from = fields.take("from").flatMap { timeBeforeEnd($0, "from") } ?? 0
        let until = fields.take("until").flatMap { timeBeforeEnd($0, "until") } ?? lastsMilliseconds
        let kinds = change.map { node in list(node).compactMap { choice($0, Scenario.Change.Kind.self, "change") } }
        reject(fields)
        for choices in [by, change].compactMap(\.self) where list(choices).isEmpty {
            report(choices, "Nothing is chosen here, so nothing is written. Name at least one, or leave the key out.")
        }
        if until <= from { report(node, "\u{201C}until\u{201D} is after \u{201C}from\u{201D}, or nothing is written.") }
        if every <= 0 {
            report(node, "\u{201C}every\u{201D} is more than 0: at least 1 ms.")
            return nil
        }
        return Scenario.Workload(
            nodes: nodes, everyMilliseconds: every, fromMilliseconds: from, untilMilliseconds: max(from, until),
            kinds: kinds ?? Scenario.Change.Kind.usual)
    }
}
