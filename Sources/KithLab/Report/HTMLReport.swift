/// A run as one page that needs nothing else: no script, style, font or image from elsewhere.
struct HTMLReport {
    let record: LabRecord

    init(_ record: LabRecord) {
        self.record = record
    }

    var text: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(Markup.escape(record.name)) \u{2013} kith lab</title>
        <style>\(String(decoding: PackageResources.report_css, as: UTF8.self))</style>
        </head>
        <body>
        <main>
        \(header)
        \(findings)
        \(diagram)
        \(connections)
        \(convergence)
        <div class="pair">
        \(latency)
        \(traffic)
        </div>
        \(checks)
        \(writes)
        <footer>kith lab, \(Markup.escape(record.started)). \(record.nodes.map { Markup.escape("\($0.name): kith \($0.version), \($0.address)") }.joined(separator: "; ")).</footer>
        </main>
        <script>\(String(decoding: PackageResources.report_js, as: UTF8.self))</script>
        </body>
        </html>

        """
    }

    // MARK: The outcome

    private var header: String {
        let done = record.writes.filter { $0.outcome == "acknowledged" }.count
        let latency = LatencyChart(latencies: record.latencies)
        let faults = record.marks.filter { [.kill, .stop, .cut, .part, .pause, .fill, .clock, .lose].contains($0.kind) }.count
        let bytes = record.traffic.reduce(0) { $0 + $1.bytes }
        var figures = [
            ("writes acknowledged", "\(done)"), ("things that went wrong", "\(faults)"),
            ("half arrived within", latency.latencies.isEmpty ? "\u{2013}" : LabRecord.latency(latency.share(50))),
            ("sent in all", Quantity.size(bytes)),
        ]
        if let converged = record.convergedMilliseconds {
            figures.append(("all agreed after", Quantity.span(Double(max(0, converged - record.settledFromMilliseconds)))))
        }
        let verdict =
            record.isPassed
            ? "<p class=\"verdict\">\(Markup.tick)Nothing was lost</p>"
            : "<p class=\"verdict bad\">\(Markup.cross)\(record.findings.count == 1 ? "A promise was broken" : "\(record.findings.count) promises were broken")</p>"
        let remarks = record.remarks.map { "<p class=\"soft\">\(Markup.escape($0))</p>" }.joined()
        return """
            <header>
            \(verdict)
            <h1>\(Markup.escape(record.name))</h1>
            <p class="soft">\(Markup.escape(record.about)) \(record.nodes.count) machines, \(record.duration), seed \(record.seed).</p>
            \(remarks)
            <dl class="figures">\(figures.map { "<div><dt>\($0.0)</dt><dd>\(Markup.escape($0.1))</dd></div>" }.joined())</dl>
            </header>
            """
    }

    private var findings: String {
        if record.findings.isEmpty { return "" }
        let items = record.findings.map { finding in
            let path = finding.path.map { station in
                "<li><span class=\"soft\">\(Markup.escape(record.moment(station.atMilliseconds)))</span><span><b style=\"--c:\(Markup.color(station.node))\">\(Markup.escape(record.nodes[station.node].name))</b> \(Markup.escape(station.text))</span></li>"
            }.joined(separator: "\n")
            return
                "<div class=\"finding\"><p><b>\(finding.rule.rawValue)</b></p><p>\(Markup.escape(finding.sentence))</p><ol class=\"path\">\(path)</ol></div>"
        }
        return
            "<section aria-labelledby=\"broken\"><h2 id=\"broken\">What was broken, and which way it went</h2>\(items.joined(separator: "\n"))</section>"
    }

    private var checks: String {
        let items = record.checks.map { check in
            let sentence = Markup.escape(check.sentence)
            return switch check.outcome {
            case .passed: "<li>\(Markup.tick)<span>\(sentence)</span></li>"
            case .broken: "<li class=\"bad\">\(Markup.cross)<span>Broken: \(sentence)</span></li>"
            case .notChecked:
                "<li class=\"soft\">\(Markup.dash)<span>Not checked: \(sentence)\(check.why.map { " (\(Markup.escape($0)))" } ?? "")</span></li>"
            }
        }
        return
            "<section aria-labelledby=\"checks\"><h2 id=\"checks\">What was checked</h2><ul class=\"checks\">\(items.joined(separator: "\n"))</ul></section>"
    }

    // MARK: Pictures

    private var diagram: String {
        """
        <figure>
        <h2>What happened</h2>
        <figcaption>Each line is a machine, each dot a commit; lines lead from a commit to the machines that it reached, by way of those that were connected and could pass it on first.</figcaption>
        <div class="stage" tabindex="0" role="group" aria-label="Diagram. Arrow keys go from commit to commit." aria-describedby="detail">
        \(SpaceTimeDiagram(record, isVertical: false).svg)
        </div>
        <div class="stage tallstage" tabindex="0" role="group" aria-label="Diagram. Arrow keys go from commit to commit." aria-describedby="detail">
        \(SpaceTimeDiagram(record, isVertical: true).svg)
        </div>
        \(legend)
        <p class="detail" id="detail" aria-live="polite">Point at a dot, or use the arrow keys, to see where a commit went.</p>
        </figure>
        """
    }

    private var legend: String {
        let entries = [
            ("<circle cx=\"11\" cy=\"7\" r=\"4.6\" fill=\"var(--soft)\"/>", "commit"),
            ("<path class=\"merge\" stroke=\"var(--soft)\" d=\"M11 1.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z\"/>", "arrived and was merged"),
            ("<path class=\"mark quiet\" d=\"M1 11l8 -9M8 13l9 -11M15 13l6 -8\"/>", "cable pulled"),
            ("<rect class=\"paused\" x=\"0\" y=\"0\" width=\"22\" height=\"14\"/>", "frozen"),
            ("<rect class=\"full\" x=\"0\" y=\"0\" width=\"22\" height=\"14\"/>", "disk full"),
            ("<path class=\"mark\" d=\"M6 2l10 10M16 2l-10 10\"/>", "kill -9"),
            ("<path class=\"down\" d=\"M1 7h20\"/>", "not running"),
            ("<path class=\"mark quiet\" stroke-dasharray=\"2 4\" d=\"M11 0v14\"/>", "path changed"),
            ("<g class=\"mark quiet\"><circle cx=\"11\" cy=\"7\" r=\"6\" fill=\"var(--card)\"/><path d=\"M11 4v3h3\"/></g>", "clock set"),
            ("<path fill=\"none\" stroke=\"var(--soft)\" stroke-dasharray=\"2 5\" d=\"M1 11L21 3\"/>", "way not known"),
            ("<path class=\"agreed\" d=\"M11 0v14\"/>", "all know the same"),
        ]
        return "<ul class=\"legend\">"
            + entries.map { "<li><svg viewBox=\"0 0 22 14\" aria-hidden=\"true\">\($0.0)</svg>\($0.1)</li>" }.joined() + "</ul>"
    }

    private var connections: String {
        if record.connections.isEmpty { return "" }
        return """
            <figure>
            <h2>Who was connected</h2>
            <figcaption>Each row is a pair of machines, each bar a time in which they were connected, as they say themselves; hatched while a cable was out or the path broken.</figcaption>
            \(ConnectionChart(record, isVertical: false).svg)
            \(ConnectionChart(record, isVertical: true).svg)
            </figure>
            """
    }

    private var convergence: String {
        """
        <figure>
        <h2>What was still on its way</h2>
        <figcaption>How many commits each machine lacked, stacked: mountains grow while somebody is away, and must be gone in the end.</figcaption>
        \(ConvergenceChart(record, isVertical: false).svg)
        \(ConvergenceChart(record, isVertical: true).svg)
        </figure>
        """
    }

    private var latency: String {
        let chart = LatencyChart(latencies: record.latencies)
        if chart.latencies.isEmpty { return "" }
        return """
            <figure>
            <h2>How long it took</h2>
            <figcaption>From a commit to its arrival at each other machine, absences included: half within \(LabRecord.latency(chart.share(50))), 95 of 100 within \(LabRecord.latency(chart.share(95))), the last after \(LabRecord.latency(chart.share(100))).</figcaption>
            \(chart.svg)
            </figure>
            """
    }

    private var traffic: String {
        let pairs = record.nodes.indices.flatMap { a in record.nodes.indices.filter { $0 > a }.map { (a, $0) } }
        func bytes(_ from: Int, _ to: Int) -> Int { record.traffic.first { $0.from == from && $0.to == to }?.bytes ?? 0 }
        let rows = pairs.map { (a: $0.0, b: $0.1, sent: bytes($0.0, $0.1), received: bytes($0.1, $0.0)) }.filter {
            $0.sent + $0.received > 0
        }
        let most = Double(max(1, rows.map { $0.sent + $0.received }.max() ?? 1))
        let lines = rows.sorted { $0.sent + $0.received > $1.sent + $1.received }.map { row in
            let (a, b) = (Markup.escape(record.nodes[row.a].name), Markup.escape(record.nodes[row.b].name))
            func bar(_ node: Int, _ bytes: Int, _ title: String) -> String {
                "<i style=\"--c:\(Markup.color(node));width:\(Markup.number(Double(bytes) / most * 100))%\" title=\"\(title): \(Quantity.size(bytes))\"></i>"
            }
            return
                "<span>\(a) \u{2013} \(b)</span><span class=\"stack\">\(bar(row.a, row.sent, "from \(a)"))\(bar(row.b, row.received, "from \(b)"))</span><span>\(Quantity.size(row.sent + row.received))</span>"
        }
        let dropped = record.traffic.reduce(0) { $0 + $1.droppedFrames }
        return """
            <figure>
            <h2>What went over the network</h2>
            <figcaption>Every frame between two machines, mDNS and TLS included, in the color of its sender.\(dropped > 0 ? " \(dropped) frames were lost on purpose." : "")</figcaption>
            <div class="bars">\(lines.joined(separator: "\n"))</div>
            </figure>
            """
    }

    private var writes: String {
        let rows = record.writes.map { write in
            "<tr><td>\(Markup.escape(record.moment(write.atMilliseconds)))</td><td>\(Markup.escape(record.nodes[write.node].name))</td><td>\(Markup.escape(write.note))</td><td>\(Markup.escape(write.kind)) \(Markup.escape(write.value))</td><td>\(Markup.escape(write.outcome))</td></tr>"
        }
        return """
            <section>
            <details>
            <summary>All \(record.writes.count) writes</summary>
            <div class="scroll" tabindex="0"><table>
            <thead><tr><th>when</th><th>where</th><th>note</th><th>what</th><th>outcome</th></tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody>
            </table></div>
            </details>
            </section>
            """
    }
}
