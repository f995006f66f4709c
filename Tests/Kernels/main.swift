// kith-counts: does fixed pieces of work, one after the other, for scripts/counts.sh, which counts their instructions.
// kith-counts --list: their names, in that order. Not asynchronous and without threads of its own, so that the same build always
// executes the same instructions.

if CommandLine.arguments.dropFirst().first == "--list" {
    for (name, _) in Kernels.all { print(name) }
} else {
    for (_, kernel) in Kernels.all { try kernel() }
}
