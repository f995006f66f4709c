#!/usr/bin/env python3
"""Reference model, extended by adopted writes (what was in a table when it was first tracked) and a stand-in for text columns.

  adoption_model.py check [N] [first seed]   random histories against an oracle over the log (writes, what their authors knew and saw)
  adoption_model.py mutants                  planted mistakes: each must be caught
  adoption_model.py small | as-written N     the counterexamples; N histories under the rule as semantics.md had it before
  adoption_model.py vectors FILE             60 scenarios with answers
  adoption_model.py fresh FIRST COUNT        COUNT random scenarios with answers, to standard output; half of them with texts, two thirds with migration steps

The rule, in one paragraph. An adopted write is a fact without a date: it is older than everything written under tracking. It
carries its dot and its commit's ordinary timestamp, and a mark. Its identity is its CONTENT (row, column, value), not its dot:
whoever overwrites, removes or dismisses it does so for every equal one, met or not yet met, so each cell remembers the contents
that ordinary writes have replaced (`over`, `gone`: sets that only grow, merged by union). Shown is an ordinary write if there is one
(the latest, as ever), else the EARLIEST adopted one. An adopted write never brings a deleted row back, never changes what an
ordinary write shows, and a later adoption changes nothing that is already shown: it only adds rows, set elements, alternatives.

A migration step, which every device runs, is one commit. A register that it changes keeps the timestamp of the write that it replaces, 0 for
an adopted one, so that a step never wins over an edit; what it makes of an adopted value counts for every equal adopted one. A row or cell
that it makes is adopted. Everything else (elements of sets, deletions) is as in any commit; texts and counters are not changed by steps.

State per row, beyond reference_model.Row (registers hold (hlc, value, adopted)):
  over      column -> contents (hash) of adopted values that an ordinary write replaced       register, counter
  sets[c]   'ad': adopted elements, 'gone': elements that an ordinary write ever removed, 'adt': dots of the adoptions
  bases[c]  dot -> (hlc, value): adopted counter values; increments stay in counters[c], per replica, as before, untouched by adoption
  born      replica -> seq: the row was (also) made by an ordinary insert: then no adopted counter value counts
  texts[c]  roots (content id -> earliest adoption), nodes, dels, edits per document, dismissed ids: all grow only
  ctx       context of a row that came in a slice (as in slices_model.py)
"""
import hashlib, os, struct, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from copy import deepcopy
from reference_model import Node, Row, covers, join

BUGS = set()        # planted mistakes, see MUTANTS

def canon(v):
    """Type and bytes of a value: 1, 1.0 and '1' differ."""
    if v is None: return b'N'
    if isinstance(v, bool): v = int(v)
    if isinstance(v, int): return b'I' + struct.pack('>q', v)
    if isinstance(v, float): return b'R' + struct.pack('>d', v)
    if isinstance(v, bytes): return b'B' + v
    return b'T' + v.encode()
def same(a, b): return canon(a) == canon(b)
def content(v): return hashlib.sha256(canon(v)).hexdigest()[:16]
def root_id(row, column, text, dot):
    if 'root_by_dot' in BUGS: return 'r%s' % (dot,)
    return true_root(row, column, text)
def true_root(row, column, text):
    return 'r' + hashlib.sha256(('item\0%s\0%s\0%s' % (row, column, text)).encode()).hexdigest()[:16]
def distinct(vals, but=()):
    out = {}
    for v in vals:
        if not any(same(v, b) for b in but): out[canon(v)] = v
    return [out[k] for k in sorted(out)]

KINDS = {'title': 'register', 'color': 'register', 'tags': 'set', 'views': 'counter', 'note': 'text'}

class Text:
    """Characters with ids in a tree (RGA). A document is what hangs on one root: '' for ordinary text, a content id for an adopted one."""
    def __init__(s):
        s.roots, s.content = {}, {}          # root -> earliest (hlc, replica, seq); root -> text
        s.nodes, s.dels = {}, {}             # id -> (doc, parent, stamp, character); id -> doc
        s.edits = {}                         # doc -> {dot: hlc}    ordinary edits
        s.over = set()                       # dismissed: ('root', root) and ('edit', doc, dot)
        s.touch, s.adt = {}, {}
    def docs(s): return set(s.roots) | set(s.edits)
    def shown(s):
        ds = s.docs()
        if not ds: return None
        if 'text_root_order' not in BUGS:
            ed = [(max((h,) + d for d, h in s.edits[x].items()), x) for x in ds if s.edits.get(x)]
            if ed: return max(ed)[1]         # the document with the latest ordinary edit
        return min((s.roots.get(x, (0,)), x) for x in ds)[1]
    def seq(s, doc):
        kids = {}
        prev = None
        for i, ch in enumerate(s.content.get(doc, '')):
            kids.setdefault(prev, []).append(((0, '', 0, 0), (doc, i), ch)); prev = (doc, i)
        for i, (dc, par, st, ch) in s.nodes.items():
            if dc == doc: kids.setdefault(par, []).append((st + (i[2],), i, ch))
        out, stack = [], sorted(kids.get(None, []), key=lambda k: k[0])
        while stack:
            st, i, ch = stack.pop()
            if i not in s.dels: out.append((i, ch))
            stack.extend(sorted(kids.get(i, []), key=lambda k: k[0]))
        return out
    def text(s, doc): return ''.join(ch for _, ch in s.seq(doc))
    def ids(s, doc):
        return ({('root', doc)} if doc in s.roots else set()) | {('edit', doc, d) for d in s.edits.get(doc, {})}
    def alternatives(s):
        sh = s.shown()
        if sh is None: return []
        return distinct([s.text(x) for x in s.docs() if x != sh and not s.ids(x) <= s.over], [s.text(sh)])
    def merge(s, o):
        for r, k in o.roots.items(): s.roots[r] = min(s.roots.get(r, k), k); s.content[r] = o.content[r]
        s.nodes.update(o.nodes); s.dels.update(o.dels); s.over |= o.over
        for x, e in o.edits.items(): s.edits.setdefault(x, {}).update(e)
        s.touch, s.adt = join(s.touch, o.touch), join(s.adt, o.adt)

class ARow(Row):
    def __init__(s):
        super().__init__(); s.over, s.bases, s.born, s.texts, s.ctx = {}, {}, {}, {}, {}
    def ordinary(s):
        for c in s.cells.values(): yield from (d for d, x in c.items() if not x[2])
        for c in s.sets.values(): yield from c['touch'].items()
        for c in s.counters.values():
            for r, (q, _) in c.items(): yield (r, q)
        for t in s.texts.values(): yield from t.touch.items()
    def adopted(s):
        for c in s.cells.values(): yield from (d for d, x in c.items() if x[2])
        for c in s.sets.values(): yield from c['adt'].items()
        for b in s.bases.values(): yield from b
        for t in s.texts.values(): yield from t.adt.items()
    def dots(s):
        yield from s.ordinary(); yield from s.adopted()
def new_set(): return {'el': {}, 'touch': {}, 'ad': set(), 'gone': set(), 'adt': {}}

# ---- reading: pure functions of what is kept
def live(r, c):
    """Writes of a register that count: an adopted one whose content was overwritten, anywhere, is overwritten."""
    return {d: x for d, x in r.cells.get(c, {}).items() if not x[2] or content(x[1]) not in r.over.get(c, ())}
def shown(r, c):
    l = live(r, c)
    o = [(x[0],) + d for d, x in l.items() if not x[2]]
    if o: return l[max(o)[1:]][1]
    a = [(x[0],) + d for d, x in l.items()]
    return l[(max(a) if 'latest_adopted' in BUGS else min(a))[1:]][1]
def shown_write(r, c):
    l = live(r, c); o = [(x[0],) + d for d, x in l.items() if not x[2]]
    return l[(max(o) if o else min((x[0],) + d for d, x in l.items()))[1:]]
def step_hlc(was): return 0 if was[2] else was[0]
def members(st): return sorted({e for e, d in st['el'].items() if d} | {e for e in st['ad'] if e not in st['gone']})
def base(r, c):
    """The adopted value that counts: none where an ordinary insert made the row, else the earliest."""
    b = r.bases.get(c)
    if not b or (r.born and 'born_ignored' not in BUGS): return None
    k = [(h,) + d for d, (h, _) in b.items()]
    return b[(max(k) if 'latest_adopted' in BUGS else min(k))[1:]][1]
def count(r, c):
    t = sum(x for _, x in r.counters.get(c, {}).values())
    if 'sum_bases' in BUGS: return t + sum(v for _, v in r.bases.get(c, {}).values())
    return t + (base(r, c) or 0)
def count_alternatives(r, c):
    b = base(r, c)
    return distinct([v for _, v in r.bases.get(c, {}).values() if content(v) not in r.over.get(c, ())],
                    [count(r, c)] + ([b] if b is not None else []))

class ANode(Node):
    def visible(s, rid):
        r = s.rows.get(rid)
        if r is None: return False
        if not r.tombs: return True
        if s.delete_wins: return False
        seen = {}
        for se in r.tombs.values(): seen = join(seen, se)
        return any(not covers(seen, d) for d in (r.dots() if 'revive' in BUGS else r.ordinary()))   # adoption is no edit
    def read(s, rid):
        if not s.visible(rid): return None
        r = s.rows[rid]; out = {}
        for c in r.cells: out[c] = shown(r, c)
        for c, st in r.sets.items(): out[c] = members(st)
        for c in set(r.counters) | set(r.bases): out[c] = count(r, c)
        for c, t in r.texts.items(): out[c] = t.text(t.shown())
        return out
    def alternatives(s, rid):
        r = s.rows[rid]; out = {}
        for c in r.cells:
            if 'dot_only' in BUGS:
                l = live(r, c); w = shown(r, c); out[c] = [x[1] for x in l.values()]; out[c].remove(w)
            else: out[c] = distinct([x[1] for x in live(r, c).values()], [shown(r, c)])
        for c in r.bases: out[c] = count_alternatives(r, c)
        for c, t in r.texts.items(): out[c] = t.alternatives()
        return {c: v for c, v in out.items() if v}
    def answer(s):
        return {rid: (s.read(rid), s.alternatives(rid)) for rid in sorted(s.rows) if s.visible(rid)}
    # ---- writing
    def adopt(s, now, rows):
        seq = s.vv.get(s.rep, 0) + 1; s.hlc = max(s.hlc + 1, now); dot = (s.rep, seq)
        for rid, cols in rows.items(): s._found(rid, cols, dot)
        s.vv[s.rep] = seq
        return dot
    def _found(s, rid, cols, dot):
        r = s.rows.setdefault(rid, ARow())               # tombstones stay, nothing is superseded
        for c, v in cols.items():
            k = KINDS[c]
            if k == 'register': r.cells.setdefault(c, {})[dot] = (s.hlc, v, True)
            elif k == 'set':
                st = r.sets.setdefault(c, new_set()); st['ad'] |= set(v); st['adt'][s.rep] = dot[1]
            elif k == 'counter': r.bases.setdefault(c, {})[dot] = (s.hlc, v['count'] if isinstance(v, dict) else v)
            else:
                t = r.texts.setdefault(c, Text()); i = root_id(rid, c, v, dot); t.content[i] = v
                t.roots[i] = min(t.roots.get(i, (s.hlc,) + dot), (s.hlc,) + dot); t.adt[s.rep] = dot[1]
    def _step(s, r, c, v, dot):
        """A register in a migration step: a save that keeps the timestamp of what it replaces."""
        was = shown_write(r, c); sib = r.cells[c]
        s._write(r, c, v, dot, False)
        if 'step_new_stamp' in BUGS: return
        sib[dot] = (was[0] if 'step_of_found' in BUGS else step_hlc(was), v, False)
        if was[2] and 'step_forgets' not in BUGS: r.over.setdefault(c, set()).add(content(v))
        for d, x in list(sib.items()):                   # of equal timestamps the higher dot would hide what was just saved
            if d != dot and not x[2] and (x[0],) + d > (sib[dot][0],) + dot: del sib[d]
    def _write(s, r, c, v, dot, whole):
        """A register: replace the value that was shown, wherever it stands (set), or every value the author has (resolve, insert)."""
        sib = r.cells.setdefault(c, {})
        old = shown(r, c) if sib else None
        one = max((not x[2], x[0], d) for d, x in live(r, c).items() if same(x[1], old))[2] if sib else None
        for d in list(sib):
            if whole or (d == one if 'set_one_dot' in BUGS else same(sib[d][1], old)):
                if sib[d][2] and 'no_over' not in BUGS: r.over.setdefault(c, set()).add(content(sib[d][1]))
                del sib[d]
        sib[dot] = (s.hlc, v, False)
    def _count(s, r, c, n, seq):
        now = count(r, c)
        for _, v in r.bases.get(c, {}).values():         # an equal value that is shown is replaced with it
            if v == now and v != base(r, c): r.over.setdefault(c, set()).add(content(v))
        m = r.counters.setdefault(c, {}); m[s.rep] = (seq, m.get(s.rep, (0, 0))[1] + n)
    def _text(s, r, c, new, dot, doc=None):
        """A plain save: the difference to the shown text, as one replaced stretch."""
        t = r.texts.setdefault(c, Text())
        doc = t.shown() if doc is None else doc
        if doc is None: doc = ''
        cur = t.seq(doc); old = ''.join(ch for _, ch in cur)
        for x in t.docs():
            if x != doc and t.text(x) == old: t.over |= t.ids(x)
        p = 0
        while p < min(len(old), len(new)) and old[p] == new[p]: p += 1
        q = 0
        while q < min(len(old), len(new)) - p and old[-1 - q] == new[-1 - q]: q += 1
        for i, _ in cur[p:len(old) - q]: t.dels[i] = doc
        par = cur[p - 1][0] if p else None
        for k, ch in enumerate(new[p:len(new) - q]):
            i = (dot[0], dot[1], k); t.nodes[i] = (doc, par, (s.hlc,) + dot, ch); par = i
        t.edits.setdefault(doc, {})[dot] = s.hlc; t.touch[s.rep] = dot[1]
    def commit(s, now, ops, step=False):
        seq = s.vv.get(s.rep, 0) + 1; s.hlc = max(s.hlc + 1, now); dot = (s.rep, seq)
        for k, rid, cols in ops:
            vis = s.visible(rid)
            if step and k == 'insert' and not vis and 'step_insert_written' not in BUGS: s._found(rid, cols, dot); continue
            if k == 'delete':
                if vis: r = s.rows[rid]; r.tombs = {dot: r.clock()}
                continue
            if k == 'insert' and vis or k != 'insert' and not vis: continue
            r = s.rows.setdefault(rid, ARow()); r.tombs = {}
            if k == 'insert': r.born[s.rep] = seq
            for c, v in cols.items():
                kind = KINDS[c]
                if kind == 'register' and step and k == 'set' and r.cells.get(c): s._step(r, c, v, dot)
                elif kind == 'register': s._write(r, c, v, dot, k != 'set')
                elif kind == 'set':
                    st = r.sets.setdefault(c, new_set()); st['touch'][s.rep] = seq
                    if k == 'insert':
                        for e in set(st['el']) | st['ad']: st['el'][e] = set(); st['gone'].add(e)
                        for e in v: st['el'][e] = {dot}
                    elif k == 'add': st['el'][v] = {dot}
                    else:
                        st['el'][v] = set()
                        if 'set_no_memory' not in BUGS: st['gone'].add(v)
                elif kind == 'counter':
                    if k == 'increment': s._count(r, c, v, seq)
                    else:
                        for _, b in r.bases.get(c, {}).values():
                            if k == 'insert' or b != base(r, c): r.over.setdefault(c, set()).add(content(b))
                        m = r.counters.setdefault(c, {})
                        if k == 'insert': m[s.rep] = (seq, v['count'] - sum(t for rr, (q, t) in m.items() if rr != s.rep))
                        else: m[s.rep] = (seq, m.get(s.rep, (0, 0))[1] + v - count(r, c))       # resolve
                else:
                    t = r.texts.setdefault(c, Text())
                    if k in ('insert', 'resolve'):
                        for x in t.docs(): t.over |= t.ids(x)
                    s._text(r, c, v, dot, '' if k == 'insert' else None)
        s.vv[s.rep] = seq
        return dot
    # ---- synchronisation
    def delta(s, v):
        rows = {}
        for rid, r in s.rows.items():
            if not any(not covers(v, d) for d in r.all_dots()): continue
            n = ARow(); n.tombs = deepcopy(r.tombs); n.born = dict(r.born); n.ctx = join(s.vv, r.ctx); un = lambda ds: any(not covers(v, d) for d in ds)
            n.cells = {c: dict(sib) for c, sib in r.cells.items() if un(sib)}
            n.sets = {c: deepcopy(st) for c, st in r.sets.items() if un(list(st['touch'].items()) + list(st['adt'].items()))}
            n.counters = {c: {k: x for k, x in m.items() if not covers(v, (k, x[0]))} for c, m in r.counters.items()}
            n.bases = {c: {d: x for d, x in b.items() if not covers(v, d)} for c, b in r.bases.items()}
            n.texts = {c: deepcopy(t) for c, t in r.texts.items() if un(list(t.touch.items()) + list(t.adt.items()))}
            if 'over_unsent' not in BUGS:
                n.over = {c: set(o) for c, o in r.over.items() if c in n.cells or n.counters.get(c) or n.bases.get(c)}
            rows[rid] = n
        return {'since': dict(v), 'vv': dict(s.vv), 'hlc': s.hlc, 'rows': rows}
    def merge_row(s, rid, n):
        r = s.rows.setdefault(rid, ARow()); mv = join(s.vv, r.ctx); n = deepcopy(n)
        def keep(mine, theirs):
            return {x for x in mine if x in theirs or not covers(n.ctx, x)} | {x for x in theirs if x in mine or not covers(mv, x)}
        for c, sib in n.cells.items():
            mine = r.cells.get(c, {}); r.cells[c] = {x: mine.get(x) or sib.get(x) for x in keep(mine, sib)}
        for c, o in n.over.items(): r.over[c] = r.over.get(c, set()) | o
        for c, st in n.sets.items():
            m = r.sets.setdefault(c, new_set())
            for e in set(m['el']) | set(st['el']): m['el'][e] = keep(m['el'].get(e, set()), st['el'].get(e, set()))
            m['touch'], m['adt'] = join(m['touch'], st['touch']), join(m['adt'], st['adt'])
            m['ad'] |= st['ad']; m['gone'] |= st['gone']
        for c, m in n.counters.items():
            mine = r.counters.setdefault(c, {})
            for k, x in m.items():
                if k not in mine or mine[k][0] < x[0]: mine[k] = x
        for c, b in n.bases.items(): r.bases.setdefault(c, {}).update(b)
        for c, t in n.texts.items(): r.texts.setdefault(c, Text()).merge(t)
        r.born = join(r.born, n.born); k = keep(r.tombs, n.tombs)
        r.tombs = {x: join(r.tombs.get(x, {}), n.tombs.get(x, {})) for x in k}
        r.ctx = join(r.ctx, n.ctx)
    def finish(s, w):
        s.vv = join(s.vv, w)
        for r in s.rows.values(): r.ctx = {k: q for k, q in r.ctx.items() if not covers(s.vv, (k, q))}
    def apply(s, d, only=None):
        """The whole delta, or (only: row ids) slices of one that broke off."""
        for rid, n in d['rows'].items():
            if only is None or rid in only: s.merge_row(rid, n)
        s.hlc = max(s.hlc, d['hlc'])
        if only is None: s.finish(d['vv'])

# ---- checks: an oracle over the log: writes, what their authors knew (dots) and saw (read from the model at that moment)
import json, random
CONTENTS = ['', 'abcdef', 'abcdXf', 'uvw', 'abcdefgh']

class World:
    def __init__(w, seed, dw):
        w.seed, w.log, w.fresh, w.dw = seed, [], 0xF0000, dw
    def know(w, nd, rid): return join(nd.vv, nd.rows[rid].ctx) if rid in nd.rows else dict(nd.vv)
    def adopt(w, nd, now, rows):
        kn = {r: w.know(nd, r) for r in rows}
        d = nd.adopt(now, deepcopy(rows))
        for r, cols in rows.items():
            for c, v in cols.items(): w.log.append(dict(dot=d, hlc=nd.hlc, k='adopt', row=r, col=c, v=v, know=kn[r]))
    def commit(w, nd, now, ops, step=False):
        pre = []
        for k, r, cols in ops:
            vis = nd.visible(r)
            if (k == 'insert') == vis: continue
            row = nd.rows.get(r)
            e = dict(k=k, row=r, know=w.know(nd, r), before=nd.read(r), cols=cols, docs={}, doc={})
            if step and k == 'insert': e['k'] = 'adopt'
            if step and k == 'set': e['step'] = {c: (step_hlc(shown_write(row, c)), shown_write(row, c)[2]) for c in cols}
            if row:
                for c, t in row.texts.items():          # documents are named by their content here, whatever the model calls them
                    nm = lambda x: x if not t.content.get(x) and x not in t.roots else true_root(r, c, t.content[x])
                    e['docs'][c] = {nm(x): (t.text(x), {(i[0], nm(i[1])) + i[2:] for i in t.ids(x)}) for x in t.docs()}; e['doc'][c] = nm(t.shown()) if t.docs() else None
            pre.append(e)
        d = nd.commit(now, deepcopy(ops), step)
        for e in pre:
            for c, v in (e['cols'] or {None: None}).items():
                kept = e.get('step', {}).get(c)
                w.log.append(dict(e, dot=d, hlc=kept[0] if kept else nd.hlc, col=c, v=v, of_found=bool(kept and kept[1])))
    def char(w): w.fresh += 1; return chr(w.fresh)
    # ---- what must be kept, by the log alone
    def expect(w, r):
        L = [e for e in w.log if e['row'] == r]
        O = [e for e in L if e['k'] != 'adopt' and e['k'] != 'delete']; D = [e for e in L if e['k'] == 'delete']
        kn = lambda e, x: covers(e['know'], x['dot'])
        tombs = [t for t in D if not any(kn(e, t) for e in O) and not any(kn(e, t) for e in D if e is not t)]
        vis = not tombs or (not w.dw and any(not any(kn(t, e) for t in tombs) for e in O))
        if not L: return None
        if not vis: return None
        cols, alts = {}, {}
        for c in {e['col'] for e in L if e['col']}:
            o = [e for e in O if e['col'] == c]; a = [e for e in L if e['k'] == 'adopt' and e['col'] == c]
            kind = KINDS[c]; first = lambda xs: min(xs, key=lambda e: (e['hlc'],) + e['dot'])
            if kind == 'register':
                over = lambda e, x: 'step' in e and x['hlc'] == e['hlc'] and x['dot'] > e['dot']
                lo = [x for x in o if not any(kn(e, x) and (e['k'] != 'set' or same(e['before'].get(c), x['v']) or over(e, x)) for e in o if e is not x)]
                la = [x for x in a if not any(same(x['v'], y['v']) and kn(e, y) and (e['k'] != 'set' or same(e['before'].get(c), y['v'])) for e in o for y in a)
                      and not any(e['of_found'] and same(x['v'], e['v']) for e in o)]
                sh = max(lo, key=lambda e: (e['hlc'],) + e['dot'])['v'] if lo else first(la)['v']
                cols[c] = sh; al = distinct([x['v'] for x in lo + la], [sh])
            elif kind == 'set':
                have = set()
                for x in o:
                    for e in (x['v'] if x['k'] == 'insert' else [x['v']] if x['k'] == 'add' else []):
                        if not any(kn(q, x) and (q['k'] == 'insert' or q['k'] == 'remove' and q['v'] == e) for q in o if q is not x): have.add(e)
                for x in a:
                    for e in x['v']:
                        if any(q['k'] == 'remove' and q['v'] == e for q in o): continue
                        if any(q['k'] == 'insert' and any(kn(q, y) and e in (y['v'] if y['k'] in ('insert', 'adopt') else [y['v']]) for y in o + a) for q in o): continue
                        have.add(e)
                cols[c] = sorted(have); al = []
            elif kind == 'counter':
                tot, parts = 0, []
                for x in sorted(o, key=lambda e: e['hlc']):
                    n = x['v'] if x['k'] == 'increment' else x['v'] - x['before'].get(c, 0) if x['k'] == 'resolve' else x['v']['count'] - sum(p for y, p in parts if kn(x, y))
                    parts.append((x, n))
                tot = sum(p for _, p in parts)
                born = any(e['k'] == 'insert' for e in O)
                b = None if born or not a else first(a)['v']['count']
                cols[c] = tot + (b or 0); dead = set()
                for e in o:
                    kv = {y['v']['count'] for y in a if kn(e, y)}
                    if e['k'] == 'insert': dead |= kv
                    else:
                        ka = [y for y in a if kn(e, y)]; kb = any(q['k'] == 'insert' and (kn(e, q)) for q in O)
                        mine = None if kb or not ka else first(ka)['v']['count']
                        dead |= {v for v in kv if v != mine and (e['k'] == 'resolve' or v == e['before'][c])}
                al = distinct([x['v']['count'] for x in a if x['v']['count'] not in dead], [cols[c]] + ([b] if b is not None else []))
            else:
                docs = {}
                for x in a:
                    i = true_root(r, c, x['v'])
                    d = docs.setdefault(i, dict(root=set(), ins=[], dels=set(), ed=[], content=x['v'], at=None))
                    k = (x['hlc'],) + x['dot']; d['at'] = min(d['at'] or k, k)
                over = set()
                for x in o:
                    sh = x['doc'].get(c); known = x['docs'].get(c, {})
                    tgt = '' if x['k'] == 'insert' or sh is None else sh
                    d = docs.setdefault(tgt, dict(root=set(), ins=[], dels=set(), ed=[], content='', at=None))
                    old = known.get(tgt, ('', 0))[0]; new = x['v']
                    d['ins'] += [ch for ch in new if ch not in old]; d['dels'] |= {ch for ch in old if ch not in new}
                    d['ed'].append((x['hlc'],) + x['dot'])
                    for i, (t, ids) in known.items():
                        if x['k'] in ('insert', 'resolve') or i != tgt and t == old: over |= ids
                ed = [(max(d['ed']), i) for i, d in docs.items() if d['ed']]
                sh = max(ed)[1] if ed else min((d['at'], i) for i, d in docs.items())[1]
                body = lambda d: ''.join(sorted(ch for ch in list(d['content']) + d['ins'] if ch not in d['dels']))
                cols[c] = body(docs[sh])
                al = []
                for i, d in docs.items():
                    ids = {('edit', i, e[1:]) for e in d['ed']} | ({('root', i)} if d['at'] else set())
                    if i != sh and not ids <= over: al.append(body(d))
                al = sorted(al)
            if al: alts[c] = al
        return cols, alts

def sort_texts(ans):
    cols, alts = ans; cols = dict(cols); alts = dict(alts)
    for c in cols:
        if KINDS[c] == 'text': cols[c] = ''.join(sorted(cols[c]))
    for c in alts:
        if KINDS[c] == 'text': alts[c] = sorted(''.join(sorted(t)) for t in alts[c])
    return cols, alts
def kept(nd):
    """Everything kept, for comparing replicas."""
    out = {}
    for rid, r in nd.rows.items():
        out[rid] = (r.cells, {c: v for c, v in r.over.items() if v}, {c: ({e: d for e, d in s['el'].items() if d}, s['touch'], s['ad'], s['gone'], s['adt']) for c, s in r.sets.items()},
                    {c: m for c, m in r.counters.items() if m}, {c: b for c, b in r.bases.items() if b}, r.born, {c: vars(t) for c, t in r.texts.items()}, r.tombs, r.ctx)
    return out

def table(rnd, old=None, p=.5):
    """A table that was there before; `old`: a copy of another machine's, with some cells and rows changed."""
    t = {}
    for i in range(1, 5):
        if old is None or rnd.random() < p or i not in old:
            if rnd.random() < .75:
                t[i] = {'title': 't%d' % rnd.randint(0, 3), 'color': rnd.choice([1, 2, None]), 'tags': sorted(set(rnd.choices('abc', k=2))),
                        'views': {'count': rnd.randint(0, 9)}, 'note': rnd.choice(CONTENTS)}
        else: t[i] = deepcopy(old[i])
    return t
def pick(w, rnd, nd, row):
    b = nd.read(row); x = rnd.random()
    if b is None: return ('insert', row, {'title': 't%d' % rnd.randint(0, 3), 'color': rnd.randint(1, 3), 'tags': sorted(set(rnd.choices('abc', k=2))), 'views': {'count': rnd.randint(0, 3)}, 'note': w.char() + w.char()})
    if x < .12: return ('delete', row, None)
    if x < .38: return ('set', row, {rnd.choice(['title', 'color']): rnd.choice(['t1', 't2', 'n%d' % rnd.randint(0, 99), 7, None])})
    if x < .45: return ('resolve', row, {'title': rnd.choice(['t1', 'r%d' % rnd.randint(0, 99)])})
    if x < .49 and 'views' in b: return ('resolve', row, {'views': rnd.randint(0, 12)})
    if x < .56: return ('add', row, {'tags': rnd.choice('abcd')})
    if x < .64: return ('remove', row, {'tags': rnd.choice(b.get('tags') or ['z'])})
    if x < .80: return ('increment', row, {'views': rnd.randint(1, 5)})
    t = b.get('note', ''); i = rnd.randint(0, len(t)); j = min(len(t), i + rnd.choice([0, 0, 1, 2]))
    new = t[:i] + ''.join(w.char() for _ in range(rnd.choice([0, 1, 2]) if j > i else 1)) + t[j:]
    if x < .97: return ('set', row, {'note': new}) if new != t else ('increment', row, {'views': 1})
    return ('resolve', row, {'note': new})

def pick_step(w, rnd, nd, row):
    """A statement of a migration step, which changes something."""
    b = nd.read(row); x = rnd.random()
    if b is None: return ('insert', row, {'title': 't%d' % rnd.randint(0, 3), 'color': rnd.randint(1, 3), 'tags': sorted(set(rnd.choices('abc', k=2))), 'views': {'count': rnd.randint(0, 3)}, 'note': rnd.choice(CONTENTS)})
    if x < .1: return ('delete', row, None)
    if x < .25 and b.get('tags'): return ('remove', row, {'tags': rnd.choice(b['tags'])})
    if x < .35 and len(b.get('tags', ())) < 4: return ('add', row, {'tags': rnd.choice([e for e in 'abcde' if e not in b.get('tags', ())])})
    c = rnd.choice(['title', 'color'])
    return ('set', row, {c: rnd.choice([v for v in (['t0', 't1', 'T'] if c == 'title' else [1, 2, 3]) if not same(v, b.get(c))])})

def history(seed, full=True):
    rnd = random.Random(seed); dw = seed % 3 == 2; n = 2 + seed % 4; w = World(seed, dw)
    nodes = [ANode(chr(65 + i), dw) for i in range(n)]; now = 10**6; stats = dict(alts=0, cuts=0, adopts=0, revived=0, hidden=0, steps=0)
    skew = {nd.rep: rnd.choice([0, 0, 50, -50, 9000]) for nd in nodes}
    cut = rnd.choice([0, 0, .3, .6]); steps = rnd.choice([0, .2, .5]); tables = []
    adopters = rnd.sample(nodes, rnd.randint(1, min(3, n))); start = rnd.random() < .6; when = {}
    for nd in adopters: when[nd.rep] = 0 if start or rnd.random() < .4 else rnd.randint(1, 25)
    def adopt(nd):
        old = rnd.choice(tables) if tables and rnd.random() < .75 else None
        t = table(rnd, old, rnd.choice([0, 0, .3, .6])); tables.append(t); w.adopt(nd, max(0, now + skew[nd.rep]), t); stats['adopts'] += 1
    def check_equal():
        for i, x in enumerate(nodes):
            for y in nodes[:i]:
                if x.vv == y.vv and not any(r.ctx for q in (x, y) for r in q.rows.values()):
                    assert x.answer() == y.answer(), ('converge', seed)
    def sync(a, b, c):
        d = a.delta(b.vv)
        if c:
            ids = list(d['rows']); rnd.shuffle(ids); b.apply(d, set(ids[:rnd.randint(0, len(ids))])); stats['cuts'] += 1
        else:
            b.apply(d)
            if rnd.random() < .1: b.apply(d)                           # twice is once
    snaps = []
    for k in range(rnd.randint(12, 45)):
        now += rnd.randint(0, 3); nd = rnd.choice(nodes)
        for x in adopters:
            if when.get(x.rep) == k: adopt(x); del when[x.rep]
        if rnd.random() < .5:
            ops, used, step = [], set(), rnd.random() < steps
            for _ in range(rnd.randint(1, 3)):
                row = rnd.randint(1, 4)
                if row in used: continue
                used.add(row); ops.append((pick_step if step else pick)(w, rnd, nd, row))
            w.commit(nd, max(0, now + skew[nd.rep]), ops, step); stats['steps'] += step
        else:
            o = rnd.choice(nodes)
            if o is not nd: sync(o, nd, rnd.random() < cut)
        if rnd.random() < .15: check_equal()
        if rnd.random() < .1: snaps.append((nd, deepcopy(nd.answer())))
    for x in adopters:
        if x.rep in when: adopt(x)
    if n > 2:                                                            # two deltas for one vector, in both orders
        a, b, c = rnd.sample(nodes, 3); p, q = deepcopy(c), deepcopy(c); d, e = a.delta(c.vv), b.delta(c.vv)
        p.apply(d); p.apply(e); q.apply(e); q.apply(d); assert kept(p) == kept(q), ('order', seed)
    order = [(a, b) for a in nodes for b in nodes if a is not b]
    for _ in range(n):
        rnd.shuffle(order)
        for a, b in order: sync(a, b, False)
    z = nodes[0]
    for y in nodes[1:]: assert kept(y) == kept(z), ('kept', seed)
    check_equal()
    for row in range(1, 5):
        want = w.expect(row); got = (z.read(row), z.alternatives(row)) if z.visible(row) else None
        if want is None or got is None:
            assert want == got, ('visible', seed, row, want, got)
            stats['hidden'] += row in z.rows
            continue
        stats['revived'] += bool(z.rows[row].tombs)
        got2 = sort_texts(got); al = dict(want[1])
        if 'note' in al:                                                # versions whose text is shown, and equal ones, are listed once
            al['note'] = sorted({t for t in al['note'] if t != want[0]['note']}); got2[1].setdefault('note', [])
            extra = [t for t in al['note'] if t not in got2[1]['note']]
            assert not extra, ('text lost', seed, row, extra)
        for c in want[0]:
            assert got2[0].get(c) == want[0][c], (KINDS[c], seed, row, c, want[0][c], got2[0].get(c))
            assert sorted(map(repr, got2[1].get(c, []))) == sorted(map(repr, al.get(c, []))), ('alternatives ' + KINDS[c], seed, row, c, al.get(c), got2[1].get(c))
        for t in [got[0].get('note', '')] + got[1].get('note', []):
            assert len(set(t)) == len(t), ('character twice', seed, row, t)
            base_ = [ch for ch in t if ch in 'abcdefXghuvw']
            assert any(all(ch in iter_ for ch in base_) for iter_ in [iter(x) for x in CONTENTS]) or not base_ , ('order of characters', seed, row, t)
        stats['alts'] += sum(map(len, got[1].values()))
    # a machine that comes later: (a) with a table that was adopted already: nothing changes; (b) with a backup of what somebody saw: nothing shown changes
    if full:
        before = z.answer()
        for t, strict in [(rnd.choice(tables), True)] + [({r: {c: ({'count': v} if KINDS[c] == 'counter' else v) for c, v in a[0].items()} for r, a in s.items()}, False) for _, s in snaps[:2]]:
            if not t: continue
            y, x = deepcopy(z), ANode('@' if strict else '~', dw); w2 = max(nd.hlc for nd in nodes) + 5
            x.adopt(w2, deepcopy(t)); first = rnd.random() < .5
            if first: y.apply(x.delta(y.vv)); x.apply(y.delta(x.vv))
            else: x.apply(y.delta(x.vv)); y.apply(x.delta(y.vv))
            assert kept(x) == kept(y), ('late kept', seed)
            if strict: assert y.answer() == before, ('late equal adoption changes something', seed)
            else:
                for r, a in before.items(): assert y.answer()[r][0] == a[0], ('a backup changes what is shown', seed, r, a[0], y.answer()[r][0])
                assert set(y.answer()) == set(before), ('a backup revives a row', seed)
    return stats

def identical(seed):
    """Machines that adopt the same table and do nothing else: no alternatives, the same values."""
    rnd = random.Random(seed); t = table(rnd); n = 2 + seed % 3; nodes = [ANode(chr(65 + i)) for i in range(n)]
    for nd in nodes: nd.adopt(rnd.randint(0, 99), deepcopy(t))
    order = [(a, b) for a in nodes for b in nodes if a is not b] * 2; rnd.shuffle(order)
    for a, b in order + order: b.apply(a.delta(b.vv))
    for nd in nodes:
        assert set(nd.answer()) == set(t), ('identical rows', seed)
        for r, (cols, alts) in nd.answer().items():
            assert not alts, ('identical alternatives', seed, alts)
            assert cols == {c: (v['count'] if isinstance(v, dict) else v) for c, v in t[r].items()}, ('identical values', seed, cols, t[r])

MUTANTS = {'sum_bases': 'adopted counter values are added up', 'dot_only': 'writes compared by dot only, not by value', 'revive': 'an adopted write counts as an edit that did not know of the deletion',
           'no_over': 'an overwritten adopted value is not remembered', 'over_unsent': 'the memory of overwritten values is not sent', 'latest_adopted': 'of different adopted values the latest stamp counts',
           'set_no_memory': 'removal of a set element is not remembered', 'root_by_dot': 'an adopted text is identified by its dot', 'born_ignored': 'an adopted counter counts beside an ordinary insert',
           'text_root_order': 'the earliest adopted text is shown even if another one was edited', 'set_one_dot': 'a save replaces one of several equal writes',
           'step_new_stamp': 'a migration step counts as new as it is', 'step_of_found': 'what a step makes of an adopted value has the timestamp of the adoption',
           'step_forgets': 'what a step made of an adopted value is not remembered',
           'step_insert_written': 'a row that a step inserts is an ordinary one'}
def run(seeds, stop=True):
    tot, bad = {}, {}
    for s in seeds:
        try:
            identical(s)
            for k, v in history(s).items(): tot[k] = tot.get(k, 0) + v
        except (AssertionError, KeyError, TypeError, ValueError) as e:
            kind = e.args[0][0] if isinstance(e, AssertionError) and e.args else type(e).__name__
            bad.setdefault(kind, []).append(s)
            if stop and len(bad[kind]) == 1: print('  ', e.args[0] if e.args else repr(e))
    return tot, {k: (len(v), v[:3]) for k, v in bad.items()}

# ---- vectors
AS_WRITTEN = {'no_over', 'revive', 'latest_adopted', 'set_no_memory', 'born_ignored', 'text_root_order'}   # semantics.md before this model
ID = lambda i: '0190%04x-0000-7000-8000-%012x' % (i, i)
def play(sc):
    nodes = {r: ANode(r, sc['deletePolicy'] == 'deleteWins') for r in sc['replicas']}
    for st in sc['steps']:
        if 'adopt' in st: nodes[st['adopt']].adopt(st['now'], deepcopy(st['rows']))
        elif 'migrate' in st: nodes[st['migrate']].commit(st['now'], [(o['op'], o['row'], deepcopy(o.get('columns'))) for o in st['ops']], True)
        elif 'commit' in st: nodes[st['commit']].commit(st['now'], [(o['op'], o['row'], deepcopy(o.get('columns'))) for o in st['ops']])
        else: a, b = st['sync']; nodes[b].apply(nodes[a].delta(nodes[b].vv))
    return nodes
def reply(nodes):
    return {n.rep: {'vector': dict(sorted(n.vv.items())), 'rows': {r: {'columns': c, 'alternatives': a} for r, (c, a) in n.answer().items()}} for n in nodes.values()}
T0 = 1_700_000_000_000
def small():
    """One scenario for each sentence of the rule."""
    row = lambda title='milk', color=1, tags=('a', 'b'), views=10: {'title': title, 'color': color, 'tags': list(tags), 'views': {'count': views}}
    ad = lambda r, t, **k: {'adopt': r, 'now': T0 + t, 'rows': {ID(1): row(**k)}}
    op = lambda r, t, o, c=None: {'commit': r, 'now': T0 + t, 'ops': [dict({'op': o, 'row': ID(1)}, **({'columns': c} if c else {}))]}
    full = lambda rs: [{'sync': [a, b]} for _ in rs[1:] for a in rs for b in rs if a != b]
    S = [('equal', 'AB', [ad('A', 1), ad('B', 2)]),
         ('overwritten-before-meeting', 'AB', [ad('A', 1), ad('B', 2), op('A', 3, 'set', {'title': 'bread'})]),
         ('both-overwrite', 'AB', [ad('A', 1), ad('B', 2), op('A', 3, 'set', {'title': 'bread'}), op('B', 4, 'set', {'title': 'salt'})]),
         ('element-removed-before-meeting', 'AB', [ad('A', 1), ad('B', 2), op('A', 3, 'remove', {'tags': 'a'})]),
         ('deleted-before-meeting', 'AB', [ad('A', 1), ad('B', 2), op('A', 3, 'delete')]),
         ('deleted-here-edited-there', 'AB', [ad('A', 1), ad('B', 2), op('A', 3, 'delete'), op('B', 4, 'set', {'title': 'salt'})]),
         ('deleted-here-different-there', 'AB', [ad('A', 1), ad('B', 2, title='salt'), op('A', 3, 'delete')]),
         ('new-life-and-late-backup', 'AB', [ad('A', 1), op('A', 2, 'delete'), op('A', 3, 'insert', row('new', 5, ['c'], 0)), ad('B', 9)]),
         ('counter-equal-both-increment', 'AB', [ad('A', 1), ad('B', 2), op('A', 3, 'increment', {'views': 1}), op('B', 4, 'increment', {'views': 2})]),
         ('counter-copy-taken-later', 'AB', [ad('A', 1), op('A', 2, 'increment', {'views': 3}), ad('B', 9, views=13)]),
         ('counter-third-machine', 'ABC', [ad('A', 1), ad('B', 2, views=12), op('A', 3, 'increment', {'views': 1}), op('B', 4, 'increment', {'views': 2}), {'sync': ['A', 'B']}, op('B', 5, 'increment', {'views': 4}), ad('C', 9, views=7), op('C', 10, 'increment', {'views': 5})]),
         ('ordinary-row-and-its-backup', 'AB', [op('A', 1, 'insert', row('milk', 1, ['a', 'b'], 3)), op('A', 2, 'set', {'title': 'bread'}), op('A', 3, 'remove', {'tags': 'b'}), op('A', 4, 'increment', {'views': 2}), ad('B', 9, views=4)]),
         ('equal-by-a-third-machine', 'ABC', [ad('A', 1), ad('B', 2, title='salt'), ad('C', 9)]),
         ('rows-stay-whole', 'AB', [ad('A', 2, title='milk', color=9), ad('B', 1, title='salt', color=1)]),
         ('equal-ordinary-writes', 'AB', [ad('A', 1), {'sync': ['A', 'B']}, op('A', 2, 'set', {'title': 'bread'}), op('B', 3, 'set', {'title': 'bread'}), {'sync': ['A', 'B']}, op('B', 4, 'set', {'title': 'salt'})]),
         ('resolve', 'ABC', [ad('A', 1), ad('B', 2, title='salt', views=12), {'sync': ['A', 'B']}, op('B', 3, 'resolve', {'title': 'salt', 'views': 12}), ad('C', 9, title='salt', views=12)])]
    return [{'name': 'adopt-' + n, 'replicas': list(rs), 'deletePolicy': 'updateWins', 'steps': st + full(rs)} for n, rs, st in S]
def scenario_step(rnd, nd, texts, lines):
    """The operations of a migration step, each of which changes something."""
    ops, born = [], set()
    for i in rnd.sample(range(1, 5), rnd.randint(1, 3)):
        row = ID(i); b = nd.read(row); x = rnd.random(); o = None
        if b is None:
            if texts and row in nd.rows: continue
            o = dict(op='insert', columns={'title': 't%d' % rnd.randint(0, 3), 'color': rnd.randint(0, 2), 'tags': sorted(set(rnd.choices('abc', k=2))), 'views': {'count': rnd.randint(0, 9)}})
            if texts: o['columns']['note'] = lines(rnd.choice(['home', 'work']))
        elif x < .1: o = dict(op='delete')
        elif x < .25 and b['tags']: o = dict(op='remove', columns={'tags': rnd.choice(b['tags'])})
        elif x < .35 and len(b['tags']) < 5: o = dict(op='add', columns={'tags': rnd.choice([e for e in 'abcde' if e not in b['tags']])})
        else:
            c = rnd.choice(['title', 'color'])
            o = dict(op='set', columns={c: rnd.choice([v for v in (['t0', 't1', 'T'] if c == 'title' else [1, 2, 3]) if not same(v, b[c])])})
        ops.append({'op': o['op'], 'row': row, **({'columns': o['columns']} if 'columns' in o else {})})
    return ops
def scenario(seed, texts, migrates=False):
    """With `migrates`, some commits are migration steps.
    A replica that adopts does so once, before its first commit; what it received before, it received without having the table.
    Texts: every replica changes only its own line, so that any order rule for characters gives the same answer; a row with a text is inserted once."""
    rnd = random.Random(seed); n = 2 + seed % 4; reps = [chr(65 + i) for i in range(n)]; policy = 'deleteWins' if seed % 3 == 2 else 'updateWins'
    nodes = {r: ANode(r, policy == 'deleteWins') for r in reps}; steps, now, tables, born, fresh = [], T0, [], set(), [0]
    skew = {r: rnd.choice([0, 0, 90_000, -90_000, 3_600_000]) for r in reps}
    todo = {r: 0 if rnd.random() < .6 else rnd.randint(1, 20) for r in rnd.sample(reps, rnd.randint(1, min(3, n)))}
    lines = lambda head: head + '\n' + ''.join(r + ' \n' for r in 'ABCDE')
    def adopt(r):
        if tables and rnd.random() < .4: t = deepcopy(rnd.choice(tables))
        else:
            t = deepcopy(rnd.choice(tables)) if tables and rnd.random() < .6 else {}
            for i in range(1, 5):
                if rnd.random() < (.35 if t else .8):
                    t[ID(i)] = {'title': 't%d' % rnd.randint(0, 3), 'color': rnd.randint(0, 2), 'tags': sorted(set(rnd.choices('abc', k=2))), 'views': {'count': rnd.randint(0, 9)}}
                    if texts: t[ID(i)]['note'] = lines(rnd.choice(['home', 'work']))
        tables.append(t); st = {'adopt': r, 'now': max(0, now + skew[r]), 'rows': t}; nodes[r].adopt(st['now'], deepcopy(t)); steps.append(st)
    for k in range(12 + 3 * (seed % 8)):
        now += rnd.randint(0, 3)
        for r in list(todo):
            if todo[r] == k: adopt(r); del todo[r]
        r = rnd.choice(reps); nd = nodes[r]
        if rnd.random() < .55:
            if r in todo: continue
            if migrates and rnd.random() < .3:
                ops = scenario_step(rnd, nd, texts, lines)
                if ops:
                    st = {'migrate': r, 'now': max(0, now + skew[r]), 'ops': ops}; steps.append(st)
                    nd.commit(st['now'], [(o['op'], o['row'], deepcopy(o.get('columns'))) for o in ops], True)
                continue
            ops, used = [], set()
            for _ in range(rnd.randint(1, 3)):
                row = ID(rnd.randint(1, 4)); b = nd.read(row); x = rnd.random()
                if row in used: continue
                used.add(row)
                if b is None:
                    if texts and (row in born or row in nd.rows): continue
                    born.add(row); o = dict(op='insert', columns={'title': 't%d' % rnd.randint(0, 9), 'color': rnd.randint(0, 4), 'tags': sorted(set(rnd.choices('abc', k=2))), 'views': {'count': rnd.randint(0, 2)}})
                    if texts: o['columns']['note'] = lines('new')
                elif texts and x < .35 and 'note' in b:
                    ls = b['note'].split('\n'); i = next(i for i, l in enumerate(ls) if l.startswith(r + ' '))
                    if ' ' in ls[i].strip() and rnd.random() < .3: ls[i] = ls[i].rstrip(' ').rsplit(' ', 1)[0] + ' '
                    else: fresh[0] += 1; ls[i] += 'w%d ' % fresh[0]
                    o = dict(op='set', columns={'note': '\n'.join(ls)})
                elif x < .42: o = dict(op='set', columns=rnd.choice([{'title': 't%d' % rnd.randint(0, 9)}, {'color': rnd.randint(0, 9)}]))
                elif x < .5: o = dict(op='delete')
                elif x < .58: o = dict(op='resolve', columns={'title': rnd.choice(['t1', 'r%d' % rnd.randint(0, 99)])})
                elif x < .68 and len(b['tags']) < 5: o = dict(op='add', columns={'tags': rnd.choice([e for e in 'abcde' if e not in b['tags']])})
                elif x < .82 and b['tags']: o = dict(op='remove', columns={'tags': rnd.choice(b['tags'])})
                else: o = dict(op='increment', columns={'views': rnd.randint(1, 9)})
                ops.append({'op': o['op'], 'row': row, **({'columns': o['columns']} if 'columns' in o else {})})
            if ops:
                st = {'commit': r, 'now': max(0, now + skew[r]), 'ops': ops}; steps.append(st)
                nd.commit(st['now'], [(o['op'], o['row'], deepcopy(o.get('columns'))) for o in ops])
        else:
            o = rnd.choice(reps)
            if o != r: nd.apply(nodes[o].delta(nd.vv)); steps.append({'sync': [o, r]})
    for r in list(todo): adopt(r)
    steps += [{'sync': [a, b]} for _ in reps[1:] for a in reps for b in reps if a != b]
    return {'name': 'adopt-%s%d-%s' % ('text-' if texts else '', seed, policy), 'replicas': reps, 'deletePolicy': policy, 'steps': steps}

if __name__ == '__main__':
    cmd = sys.argv[1] if len(sys.argv) > 1 else 'check'
    if cmd == 'check':
        n = int(sys.argv[2]) if len(sys.argv) > 2 else 5000; f = int(sys.argv[3]) if len(sys.argv) > 3 else 0
        tot, bad = run(range(f, f + n)); print(n, 'histories', tot, 'failed:', bad); sys.exit(bool(bad))
    if cmd == 'mutants':
        miss = 0
        for m in MUTANTS:
            BUGS.clear(); BUGS.add(m); _, bad = run(range(300), stop=False); miss += not bad
            print('caught' if bad else 'MISSED', m, '-', MUTANTS[m], {k: v[0] for k, v in bad.items()})
        sys.exit(miss > 0)
    if cmd == 'small':                                   # the counterexamples: as semantics.md had it, and as it must be
        for sc in small():
            BUGS.clear(); BUGS.update(AS_WRITTEN); was = play(sc)['A'].answer(); BUGS.clear(); now = play(sc)['A'].answer()
            print(sc['name'], '' if was != now else '(same)'); print('   was', was.get(ID(1))) if was != now else 0; print('   is ', now.get(ID(1)))
    if cmd == 'as-written':
        BUGS.update(AS_WRITTEN); _, bad = run(range(int(sys.argv[2])), stop=False); print('failed:', sum(v[0] for v in bad.values()), bad)
    if cmd == 'vectors':
        scs = small(); scs += [scenario(7000 + i, i >= 30) for i in range(60 - len(scs))]
        for sc in scs: sc['expect'] = reply(play(sc))
        json.dump(scs, open(sys.argv[2], 'w'), separators=(',', ':')); print(len(scs), os.path.getsize(sys.argv[2]))
    if cmd == 'fresh':
        first, many = int(sys.argv[2]), int(sys.argv[3]); scs = [scenario(s, s % 2 == 1, s % 3 != 0) for s in range(first, first + many)]
        scs = [sc for sc in scs if all(st.get('rows', True) for st in sc['steps'])]     # an empty table makes no commit
        for sc in scs: sc['expect'] = reply(play(sc))
        json.dump(scs, sys.stdout, separators=(',', ':'))
