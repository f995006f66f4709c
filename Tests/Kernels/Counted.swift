/// What is to be counted next.
private nonisolated(unsafe) var work: () throws -> Void = {}

/// Does what is counted. Callgrind begins where this is entered and ends where it is left, and finds it by this name.
@_silgen_name("kith_counted") @inline(never) func workOfKernel() {
    do {
        try work()
    } catch {
        fatalError("\(error)")
    }
}

func counted(_ body: () throws -> Void) {
    withoutActuallyEscaping(body) { body in
        work = body
        workOfKernel()
        work = {}
    }
}
