import KithCausality
import KithStore

// kith-counts KERNEL ROUNDS: does a fixed piece of work and exits, for scripts/counts.sh, which counts its instructions.
// The count of no rounds at all, which only prepares the work, is subtracted. Not asynchronous and without threads of its
// own, so that the same build always executes the same instructions.

let kernels: [String: (Int) throws -> Void] = [
    "capture": Kernels.capture, "sets": Kernels.sets, "edit": Kernels.edit, "delta": Kernels.delta, "apply": Kernels.apply,
    "open": Kernels.open, "codec": Kernels.codec, "walker": Kernels.walker,
]
let arguments = CommandLine.arguments
guard arguments.count == 3, let kernel = kernels[arguments[1]], let rounds = Int(arguments[2]) else {
    print(kernels.keys.sorted().joined(separator: "\n"))
    fatalError("usage: kith-counts KERNEL ROUNDS")
}
try kernel(rounds)
