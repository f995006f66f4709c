import KithCausality
import KithSync

/// Writes a slice frame field by field, as no honest encoder would.
struct FrameBuilder {
    struct Row {
        var table: UInt64 = 0
        var id = RowID(high: 0, low: 1)
        var state: [UInt8] = emptyState
    }

    /// No stamps, no cells, no tombstones, no context.
    static let emptyState: [UInt8] = [0, 0, 0, 0]

    var replicas: [ReplicaID] = [FrameSamples.a, FrameSamples.b]
    /// Entries as replica number and sequence.
    var since: [(UInt64, UInt64)] = []
    var vector: [(UInt64, UInt64)] = []
    var target: [(UInt64, UInt64, HybridTimestamp)] = []
    var clock = HybridTimestamp.zero
    var flags: UInt8 = 3
    var tables: [TableSchema] = [TableSchema(name: Array("t".utf8), columns: [ColumnKey("x", .register)])]
    var rows: [Row] = []
    var position: [UInt8]?
    var alsoSentTo: [UInt64] = []
    /// What the flags promise at the end.
    var ending: [UInt8] = []

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(2)
        writer.count(replicas.count)
        for replica in replicas { writer.identifier(replica) }
        for entries in [since, vector] {
            writer.count(entries.count)
            for entry in entries {
                writer.varint(entry.0)
                writer.varint(entry.1)
            }
        }
        writer.count(target.count)
        for head in target {
            writer.varint(head.0)
            writer.varint(head.1)
            writer.fixed64(head.2.rawValue)
        }
        writer.fixed64(clock.rawValue)
        writer.byte(flags)
        writer.count(0)
        writer.count(tables.count)
        for table in tables {
            writer.blob(table.name)
            writer.count(table.columns.count)
            for column in table.columns {
                writer.byte(column.kind.rawValue)
                writer.blob(column.name)
            }
        }
        writer.count(rows.count)
        for row in rows {
            writer.varint(row.table)
            writer.identifier(row.id)
            writer.blob(row.state)
        }
        writer.raw(position ?? [rows.isEmpty ? 0 : 1])
        writer.count(alsoSentTo.count)
        for number in alsoSentTo { writer.varint(number) }
        writer.raw(ending)
        return writer.bytes
    }

    /// What the decoder says; `nil` if it accepts.
    var refusal: WireError? {
        do throws(WireError) {
            _ = try FrameCodec.decode(bytes)
            return nil
        } catch {
            return error
        }
    }
}
