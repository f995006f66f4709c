// An app that imports Kith meets the store and the devices without naming more modules.
@_exported import KithCausality
@_exported import KithStore
@_exported import KithSync
@_exported import KithTrust
