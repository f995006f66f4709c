// A test target names its tables and reads values without importing the modules that KithTesting is made of.
@_exported import KithStore
@_exported import KithSync
