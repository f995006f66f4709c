// What an app meets of the targets below.
@_exported import enum KithLedger.Author
@_exported import struct KithLedger.Authors
@_exported import struct KithLedger.Conflict
@_exported import struct KithLedger.HoldingNews
@_exported import struct KithLedger.Key
@_exported import struct KithLedger.Member
@_exported import struct KithLedger.RefusedRow
@_exported import struct KithLedger.SupersededValue
@_exported import struct KithLedger.TrackedTable
@_exported import struct KithMerge.TrashedRow
@_exported import struct KithSQLite.StoreError
@_exported import struct KithSync.SliceLimits
@_exported import struct KithTexts.RefusedTextChange
@_exported import struct KithTexts.TextRevision
@_exported import struct KithTexts.TextVersion
