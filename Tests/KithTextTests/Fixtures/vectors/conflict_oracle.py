#!/usr/bin/env python3
"""The rule of docs/text.md, "Places in conflict", word by word; writes conflicts.json.gz beside it, or checks that it is what it would write.

    conflict_oracle.py write | check

Standard library only. Written apart from the code in Sources/KithText: FugueMax as a tree, visibility by explicit sets, no replay.
Restarts are left to the naive implementation of the Swift tests.
"""
import gzip
import json
import os
import random
import sys

ROOT = None
BREAKS = "\n\r"


class History:
    """Changes, parents first: (dot, parents, [(position, deleted, inserted)]); dots are (replica, sequence)."""

    def __init__(self):
        self.changes, self.past = [], {}          # dot -> dots of all ancestors and itself
        self.order = []                           # all characters in the order of the text: (dot, index)
        self.scalar, self.author, self.deleters = {}, {}, {}
        self.node = {}                            # character -> (parent, side, right origin)
        self.left, self.right = {}, {ROOT: []}

    def visible(self, version):
        return [c for c in self.order if self.author[c] in version and not self.deleters[c] & version]

    def add(self, dot, parents, ops):
        past = set().union(*[self.past[p] for p in parents]) if parents else set()
        self.changes.append((dot, sorted(parents), ops))
        self.past[dot] = past | {dot}
        index = 0
        for position, deleted, inserted in ops:
            for _ in range(deleted):
                self.deleters[self.visible(past | {dot})[position]].add(dot)
                index += 1
            for k, scalar in enumerate(inserted):
                self._insert((dot, index), position + k, scalar, past | {dot})
                index += 1
        return dot

    def _insert(self, name, position, scalar, version):
        seen = self.visible(version)
        a = seen[position - 1] if position else ROOT
        known = [c for c in self.order if self.author[c] in version]
        at = known.index(a) + 1 if a is not ROOT else 0
        b = known[at] if at < len(known) else None
        place = {c: k for k, c in enumerate(self.order)}
        if b is None or not self._is_below(b, a):
            self.node[name], siblings = (a, b), self.right[a]
            siblings.append(name)
            siblings.sort(key=lambda c: (-place.get(self.node[c][1], 1 << 60), c))
        else:
            self.node[name], siblings = (b, None), self.left[b]
            siblings.append(name)
            siblings.sort()
        self.left[name], self.right[name] = [], []
        self.scalar[name], self.author[name], self.deleters[name] = scalar, name[0], set()
        self.order = []
        stack = [(ROOT, 0)]
        while stack:
            c, phase = stack.pop()
            if phase:
                if c is not ROOT:
                    self.order.append(c)
                continue
            stack += [(x, 0) for x in reversed(self.right[c])]
            stack.append((c, 1))
            stack += [(x, 0) for x in reversed(self.left.get(c, []))]

    def _is_below(self, c, ancestor):
        while c is not ROOT and c != ancestor:
            c = self.node[c][0]
        return c == ancestor

    def heads(self):
        return [d for d, _, _ in self.changes if not any(d in self.past[e] and d != e for e, _, _ in self.changes)]

    def everything(self):
        return {d for d, _, _ in self.changes}

    def text(self):
        return "".join(self.scalar[c] for c in self.visible(self.everything()))

    # ------------------------------------------------------------------------ the rule
    def conflicts(self):
        pairs = {(p, q) for parents in [c[1] for c in self.changes] + [self.heads()] for p in parents for q in parents if p < q}
        found = [f for p, q in pairs for f in self.meetings(p, q)
                 if not any(d not in (p, q) and p in self.past[d] and q in self.past[d] and self.touches(d, ops, f)
                            for d, _, ops in self.changes)]
        return self.shown(found)

    def meetings(self, p, q):
        sides = (self.past[p], self.past[q])
        merge, common = sides[0] | sides[1], sides[0] & sides[1]
        stretches = [[]]
        for c in self.order:
            if self.author[c] not in merge:
                continue
            alive = not self.deleters[c] & merge
            if self.author[c] in common:
                if self.deleters[c] & common:
                    continue
                if alive:
                    stretches.append([])
                else:
                    stretches[-1].append((c, None, {s for s in (0, 1) if self.deleters[c] & sides[s]}))
            elif alive:
                stretches[-1].append((c, 0 if self.author[c] in sides[0] else 1, set()))
        lines = {}
        shown = [c for c in self.visible(merge)]
        place = {c: k for k, c in enumerate(self.order)}
        for stretch in stretches:
            for piece in cut(stretch, lambda m: m[1] is not None and self.scalar[m[0]] in BREAKS):
                if self.is_met(piece):
                    first = next(c for c, s, _ in piece if s is not None)
                    ends = [place[c] for c in shown if self.scalar[c] in BREAKS]
                    start = max([e + 1 for e in ends if e < place[first]], default=0)
                    end = min([e for e in ends if e > place[first]], default=len(self.order))
                    lines.setdefault((start, end), []).extend(piece)
        for (start, end), marks in lines.items():
            line = self.order[start:end]

            def text(version):
                return "".join(self.scalar[c] for c in line if self.author[c] in version and not self.deleters[c] & version)
            versions = []
            for s in (0, 1):
                own = sides[s] - common
                changes = set()
                for c, inserted, _ in marks:
                    changes |= ({self.author[c]} if inserted is not None else self.deleters[c]) & own
                versions.append((sorted(changes), text(sides[s])))
            yield {"places": {c for c, s, _ in marks if s is not None}, "before": text(common), "versions": versions}

    def is_met(self, piece):
        if {0, 1} <= {s for _, s, _ in piece}:
            return True
        for line in cut(piece, lambda m: self.scalar[m[0]] in BREAKS):
            if any(s is not None for _, s, _ in line) and any(d == {0, 1} for _, _, d in line):
                return True
        for k, (_, s, _) in enumerate(piece):
            if s is not None:
                before = [d for _, _, d in piece[:k] if d][-1:]
                after = [d for _, _, d in piece[k:] if d][:1]
                if before and after and 1 - s in before[0] and 1 - s in after[0]:
                    return True
        return False

    def lines(self, f, version):
        left = [k for k, c in enumerate(version) if c in f["places"]]
        if not left:
            return None
        start, end = left[0], left[-1]
        while start and self.scalar[version[start - 1]] not in BREAKS:
            start -= 1
        while end < len(version) and self.scalar[version[end]] not in BREAKS:
            end += 1
        return left[0], left[-1] + 1, start, end

    def touches(self, dot, ops, f):
        version = self.visible(self.past[dot] - {dot})
        lines = self.lines(f, version)
        if lines is None:
            return False
        inside = [lines[2] <= k < lines[3] for k in range(len(version))]
        for position, deleted, inserted in ops:
            if any(inside[position:position + deleted]):
                return True
            del inside[position:position + deleted]
            if inserted:
                behind = position > 0 and inside[position - 1]
                ahead = position < len(inside) and inside[position]
                if behind and ahead or behind and inserted[0] not in BREAKS or ahead and inserted[-1] not in BREAKS:
                    return True
                inside[position:position] = [False] * len(inserted)
        return False

    def shown(self, found):
        text, groups = self.visible(self.everything()), []
        for f in found:
            lines = self.lines(f, text)
            if lines:
                groups.append((list(lines), [f]))
        groups.sort(key=lambda g: g[0][0])
        merged = []
        for (first, last, start, end), fs in groups:
            if merged and first < merged[-1][0][3]:
                box = merged[-1][0]
                box[1], box[3] = max(box[1], last), max(box[3], end)
                merged[-1][1].extend(fs)
            else:
                merged.append(([first, last, start, end], list(fs)))
        result = []
        for (first, last, start, end), fs in merged:
            fs.sort(key=lambda f: ([(c, t.encode()) for c, t in f["versions"]], f["before"].encode()))
            versions = []
            for f in fs:
                for changes, t in f["versions"]:
                    entry = {"text": t, "changes": [list(d) for d in changes]}
                    if entry not in versions:
                        versions.append(entry)
            result.append({"place": [first, last], "line": [start, end], "before": fs[0]["before"], "versions": versions})
        return result


def cut(items, is_end):
    parts = [[]]
    for item in items:
        if is_end(item):
            parts.append([])
        else:
            parts[-1].append(item)
    return [p for p in parts if p]


# -------------------------------------------------------------------------------- cases by hand
A, B, C = 1, 2, 3
TRAIN = ((A, 1), [], [(0, 0, "Train: 9:00\nBuy milk\n")])
LATE, EARLY = ((A, 2), [(A, 1)], [(7, 4, "10:30")]), ((B, 1), [(A, 1)], [(7, 4, "8:15")])
BOTH = [(A, 2), (B, 1)]


def by_hand():
    def case(name, *changes):
        h = History()
        for dot, parents, ops in changes:
            h.add(dot, parents, ops)
        return name, h

    def apart(name, old, left, right):
        return case(name, ((A, 1), [], [(0, 0, old)]), ((A, 2), [(A, 1)], left), ((B, 1), [(A, 1)], right))

    yield case("two replace the same word", TRAIN, LATE, EARLY)
    yield case("one has seen the other", TRAIN, LATE, ((B, 1), [(A, 2)], [(7, 5, "8:15")]))
    yield case("both correct the same", TRAIN, LATE, ((B, 1), [(A, 1)], [(7, 4, "10:30")]))
    yield apart("two insert at one place", "See you\n", [(7, 0, " friday")], [(7, 0, " sunday")])
    yield apart("two lines at one place", "List\n", [(5, 0, "Milk\n")], [(5, 0, "Bread\n")])
    yield case("the last line of one and the first of the other", ((A, 1), [], [(0, 0, "Milk\nBread")]), ((B, 1), [], [(0, 0, "Eggs\nHam")]))
    yield apart("something that both keep stands between", "ab", [(1, 0, "x")], [(2, 0, "y")])
    yield apart("one replaces what both delete", "Train: 9:00", [(7, 4, "")], [(7, 4, "8:15")])
    yield apart("both delete and nobody inserts", "one two three", [(0, 8, "")], [(4, 9, "")])
    yield apart("one inserts inside what the other deletes", "Hello world", [(0, 11, "")], [(6, 0, "brave ")])
    yield apart("one inserts at the end of what the other deletes", "foo bar", [(3, 4, "")], [(7, 0, " baz")])
    yield apart("a whole line inside of lines that the other deletes", "1\n2\n3\n4\n", [(2, 4, "")], [(4, 0, "new\n")])
    yield apart("words next to each other", "alpha beta", [(0, 5, "ALPHA")], [(6, 4, "BETA")])
    yield apart("a deleted line break joins what was inserted", "foo\nbar", [(0, 7, "A")], [(4, 3, "B")])
    yield case("what a side took back does not count", TRAIN, ((A, 2), [(A, 1)], [(6, 0, " late")]), ((A, 3), [(A, 2)], [(6, 5, "")]),
               ((B, 1), [(A, 1)], [(6, 0, " soon")]))
    yield case("a side is all that its author did", TRAIN, LATE, ((A, 3), [(A, 2)], [(10, 2, "45")]), EARLY,
               ((B, 2), [(B, 1)], [(7, 0, "at ")]))
    yield case("an edit of the line ends it", TRAIN, LATE, EARLY, ((C, 1), BOTH, [(7, 9, "8:15")]))
    yield case("an edit elsewhere does not", TRAIN, LATE, EARLY, ((C, 1), BOTH, [(25, 0, "!")]))
    yield case("an edit by somebody who had seen one of them does not", TRAIN, LATE, ((A, 3), [(A, 2)], [(0, 0, "> ")]), EARLY)
    yield case("lines before and behind it do not", TRAIN, LATE, EARLY, ((C, 1), BOTH, [(0, 0, "Trip\n"), (21, 0, "\nnew")]))
    yield case("a deleted line break next to it does not", TRAIN, LATE, EARLY, ((C, 1), BOTH, [(16, 1, "")]))
    yield case("writing the same again does", TRAIN, LATE, EARLY, ((C, 1), BOTH, [(15, 1, "5")]))
    yield case("it stays when a third one merges without touching it", TRAIN, LATE, EARLY, ((C, 1), BOTH, [(25, 0, "!")]),
               ((C, 2), [(C, 1)], [(25, 0, "!")]))
    yield case("it is gone with what was inserted", TRAIN, LATE, EARLY, ((A, 3), [(A, 2)], [(7, 5, "")]), ((B, 2), [(B, 1)], [(7, 4, "")]),
               ((C, 1), BOTH, [(25, 0, "!")]))
    yield case("three authors", TRAIN, LATE, EARLY, ((C, 1), [(A, 1)], [(7, 4, "7:00")]))
    yield case("two places of one line are one", ((A, 1), [], [(0, 0, "9:00 from 3\n")]), ((A, 2), [(A, 1)], [(0, 4, "10:30"), (11, 1, "4")]),
               ((B, 1), [(A, 1)], [(0, 4, "8:15"), (10, 1, "5")]))
    yield case("two lines are two", ((A, 1), [], [(0, 0, "9:00\nfrom 3\n")]), ((A, 2), [(A, 1)], [(0, 4, "10:30"), (11, 1, "4")]),
               ((B, 1), [(A, 1)], [(0, 4, "8:15"), (10, 1, "5")]))
    yield case("an answer that crosses another edit is a new one", TRAIN, LATE, EARLY, ((C, 1), BOTH, [(7, 9, "8:15")]),
               ((B, 2), BOTH, [(7, 9, "noon")]))
    yield case("one has seen a part of the other side", TRAIN, LATE, EARLY, ((A, 3), [(A, 2)], [(12, 0, " sharp")]),
               ((B, 2), BOTH, [(25, 0, "!")]))


# ----------------------------------------------------------------------------------- random cases
def at_random(seed):
    rng, h = random.Random(seed), History()
    sites = rng.choice([2, 3, 3, 4])
    h.add((0, 1), [], [(0, 0, "one two\nthree\n\nfour")])
    seen, numbers = [{(0, 1)} for _ in range(sites)], [1] + [0] * (sites - 1)
    for _ in range(rng.randrange(4, 18)):
        site = rng.randrange(sites)
        if rng.random() < 0.4:
            seen[site] |= seen[rng.randrange(sites)]
            continue
        parents = [d for d in seen[site] if not any(d != e and d in h.past[e] for e in seen[site])]
        length, ops = len(h.visible(seen[site])), []
        for _ in range(rng.choice([1, 1, 2])):
            position = rng.randrange(length + 1)
            deleted = rng.choice([0, 0, 1, 3, 6]) if rng.random() < 0.6 else 0
            deleted = min(deleted, length - position)
            inserted = "".join(rng.choice("abc xy\n漢😀") for _ in range(rng.choice([0, 1, 2, 4])))
            if deleted or inserted:
                ops.append((position, deleted, inserted))
                length += len(inserted) - deleted
        if ops:
            numbers[site] += 1
            h.add((site, numbers[site]), parents, ops)
            seen[site] |= {(site, numbers[site])}
    return "random %d" % seed, h


def cases():
    for name, h in list(by_hand()) + [at_random(seed) for seed in range(400)]:
        yield {"name": name,
               "changes": [{"dot": list(d), "parents": [list(p) for p in ps], "ops": [list(o) for o in ops]} for d, ps, ops in h.changes],
               "text": h.text(), "conflicts": h.conflicts()}


def main(argv):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conflicts.json.gz")
    text = json.dumps(list(cases()), ensure_ascii=False, separators=(",", ":"))
    if argv[1:] == ["write"]:
        with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as out:
            out.write(text.encode())
    elif argv[1:] == ["check"]:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            sys.exit(0 if file.read() == text else "conflicts.json.gz is not what the oracle says")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv)
