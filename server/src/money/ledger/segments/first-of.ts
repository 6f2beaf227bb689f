/** The first of many, in an order, without sorting them all: a heap has those found so far, the last of them on top. */
export function firstOf(all: Uint32Array, limit: number, order: (a: number, b: number) => number): number[] {
  const heap: number[] = [];
  for (const one of all) {
    if (heap.length < limit) {
      heap.push(one);
      rise(heap, order);
    } else if (order(one, heap[0] ?? 0) < 0) {
      heap[0] = one;
      sink(heap, order);
    }
  }
  return heap;
}

function rise(heap: number[], order: (a: number, b: number) => number): void {
  for (let at = heap.length - 1; at > 0; ) {
    const parent = (at - 1) >> 1;
    if (order(heap[at] ?? 0, heap[parent] ?? 0) <= 0) return;
    swap(heap, at, parent);
    at = parent;
  }
}

function sink(heap: number[], order: (a: number, b: number) => number): void {
  for (let at = 0; ; ) {
    let last = at;
    for (const child of [at * 2 + 1, at * 2 + 2]) if (child < heap.length && order(heap[child] ?? 0, heap[last] ?? 0) > 0) last = child;
    if (last === at) return;
    swap(heap, at, last);
    at = last;
  }
}

function swap(heap: number[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b] ?? 0, heap[a] ?? 0];
}
