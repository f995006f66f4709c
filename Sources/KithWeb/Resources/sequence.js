// Where two sequences differ: Myers' algorithm in linear space ("An O(ND) Difference Algorithm and Its Variations", 1986). Where that would
// take too long, elements that each sequence has once are anchors (patience diff); without anchors, it goes on from the farthest place that
// it has reached. A comparison of texts has a budget of work for all of its sequences: what it has no budget for is replaced as a whole.

/** Steps that a comparison of two texts may take, as many as in the node: the page stands still for about a second at most. */
export const workMax = 20_000_000;
// Insertions and deletions that a run looks for in each direction, and how deep parts are compared within parts.
const editsMin = 16, editsMax = 2_000, depthMax = 60;
// Of the steps that are left, a pass through a part takes this share at most, so that some stay for the parts behind it.
const share = 0.25;
// "No path ends here."
const unreached = -(2 ** 30);

/**
 * The stretches `[start, end, start, end]` in which `olds` and `news` differ, in order; between two of them something is the same. The steps
 * that this takes are subtracted from `work.left`.
 */
export function differing(olds, news, work) {
  const numbers = new Map();
  const number = (piece) => numbers.get(piece) ?? (numbers.set(piece, numbers.size), numbers.size - 1);
  const a = Int32Array.from(olds, number), b = Int32Array.from(news, number);
  const found = [];
  const emit = (part) => {
    const [start, end, from, to] = part, last = found.at(-1);
    if (start === end && from === to) return;
    if (last && last[1] === start && last[3] === from) { last[1] = end; last[3] = to; } else found.push([...part]);
  };
  const compare = (whole, depth) => {
    for (let part = trimmed(a, b, whole), hasAnchors = true; ;) {
      let [start, end, from, to] = part;
      if (start === end || from === to || depth === depthMax || (work.left <= 0 && depth > 0)) return emit(part);
      const { place, isFar } = middle(a, b, part, work), chain = isFar && hasAnchors ? anchors(a, b, part, work) : [];
      if (work.left <= 0 && chain.length === 0) return emit(part);
      if (isFar) hasAnchors = chain.length > 0 && work.left > 0;
      for (const [index, other] of chain.length > 0 ? chain : [place]) {
        compare([start, index, from, other], depth + 1);
        [start, from] = [index, other];
      }
      part = trimmed(a, b, [start, end, from, to]);
    }
  };
  compare([0, a.length, 0, b.length], 0);
  return found;
}

function trimmed(a, b, [start, end, from, to]) {
  while (start < end && from < to && a[start] === b[from]) { start++; from++; }
  while (start < end && from < to && a[end - 1] === b[to - 1]) { end--; to--; }
  return [start, end, from, to];
}

/**
 * Finds a place `[x, y]` through which a short way leads from one sequence to the other: its middle, or with `isFar`, if that would take too
 * long, the farthest place that was reached from the start.
 */
function middle(a, b, [start, end, from, to], work) {
  const n = end - start, m = to - from, delta = n - m, isOdd = (delta & 1) !== 0;
  const edits = Math.max(editsMin, Math.min(editsMax, Math.floor(share * work.left / (n + m))));
  const limit = Math.min((n + m + 1) >> 1, edits), zero = limit + 1;
  const forward = new Int32Array(2 * limit + 3).fill(unreached), backward = forward.slice();
  forward[zero + 1] = backward[zero + 1] = 0;
  // The farthest place on diagonal `k` that one more edit reaches.
  const advance = (reached, k, isEqual) => {
    const right = reached[zero + k - 1] < n ? reached[zero + k - 1] + 1 : unreached;
    const down = reached[zero + k + 1] - k <= m ? reached[zero + k + 1] : unreached;
    let place = Math.max(right, down);
    if (place < 0) place = unreached; else while (place < n && place - k < m && isEqual(place, place - k)) place++;
    return reached[zero + k] = place;
  };
  const isSame = (x, y) => a[start + x] === b[from + y], isSameBack = (x, y) => a[end - 1 - x] === b[to - 1 - y];
  for (let distance = 0; distance <= limit && work.left > 0; distance++) {
    work.left -= 2 * distance + 2;
    for (let k = -distance; k <= distance; k += 2) {
      const x = advance(forward, k, isSame), other = delta - k;
      if (isOdd && Math.abs(other) < distance && x + backward[zero + other] >= n) return { place: [start + x, from + x - k] };
    }
    for (let k = -distance; k <= distance; k += 2) {
      const x = advance(backward, k, isSameBack), other = delta - k;
      if (!isOdd && Math.abs(other) <= distance && x + forward[zero + other] >= n) return { place: [end - x, to - x + k] };
    }
  }
  let place = [start, from];
  for (let k = -limit; k <= limit; k++) {
    const x = forward[zero + k];
    if (x >= 0 && x <= n && x - k <= m && 2 * x - k > place[0] - start + place[1] - from) place = [start + x, from + x - k];
  }
  return { place, isFar: true };
}

/** The places `[x, y]` of elements that each sequence has once: the longest chain of them that ascends in both (patience sorting). */
function anchors(a, b, [start, end, from, to], work) {
  work.left -= end - start + to - from;
  const inA = new Map(), inB = new Map();
  for (let index = start; index < end; index++) inA.set(a[index], inA.has(a[index]) ? -1 : index);
  for (let index = from; index < to; index++) inB.set(b[index], inB.has(b[index]) ? -1 : index);
  const pairs = [...inA].map(([piece, index]) => [index, inB.get(piece) ?? -1]).filter(([index, other]) => index >= 0 && other >= 0);
  const tops = [], links = [];
  pairs.forEach(([, place], index) => {
    let low = 0, high = tops.length;
    while (low < high) {
      const half = (low + high) >> 1;
      if (pairs[tops[half]][1] < place) low = half + 1; else high = half;
    }
    links[index] = low > 0 ? tops[low - 1] : null;
    tops[low] = index;
  });
  const chain = [];
  for (let index = tops.at(-1) ?? null; index !== null; index = links[index]) chain.push(pairs[index]);
  return chain.reverse();
}
