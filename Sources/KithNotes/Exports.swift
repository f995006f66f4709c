// What an app names to ask for changes.
@_exported import struct KithCausality.VersionVector
