// What all programs of the package print with; every file here needs it.
@_exported import KithProgram
