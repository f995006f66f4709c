// What an app meets of the targets below. The engine's own names stay in their modules.
@_exported import KithSnapshot

@_exported import struct KithCausality.Dot
@_exported import struct KithCausality.HybridTimestamp
@_exported import struct KithCausality.ReplicaID
@_exported import enum KithLedger.Author
@_exported import struct KithLedger.Authors
@_exported import struct KithLedger.Conflict
@_exported import enum KithLedger.KeyForm
@_exported import struct KithLedger.RefusedRow
@_exported import struct KithLedger.SupersededValue
@_exported import struct KithLedger.TrackedTable
@_exported import struct KithMerge.MassDeletion
@_exported import struct KithMerge.TrashedRow
@_exported import struct KithSQLite.StoreError
@_exported import struct KithSync.AttachmentID
@_exported import enum KithSync.ColumnKind
@_exported import enum KithSync.ColumnValue
@_exported import enum KithSync.DeletePolicy
@_exported import struct KithSync.RowID
@_exported import struct KithSync.Stamp
@_exported import enum KithText.TextOperation
@_exported import struct KithText.TextOperations
@_exported import enum KithText.TextUnit
@_exported import struct KithTexts.RefusedTextChange
@_exported import struct KithTexts.TextRevision
@_exported import struct KithTexts.TextVersion
