/** A run with how deep it is below the run that nobody began. */
export interface Branch<Run> {
  readonly run: Run;
  readonly depth: number;
}

interface Child {
  readonly run_id: string;
  readonly parent_run_id: string | null;
}

/** Child runs below the run that began them, otherwise in the order given. One whose parent is not among them stays where it is. */
export function treeOf<Run extends Child>(runs: readonly Run[]): readonly Branch<Run>[] {
  const present = new Set(runs.map(({ run_id: id }) => id));
  const childrenOf = Map.groupBy(runs, ({ parent_run_id: parent }) => (parent !== null && present.has(parent) ? parent : null));
  const below = (parent: string | null, depth: number): Branch<Run>[] =>
    (childrenOf.get(parent) ?? []).flatMap((run) => [{ run, depth }, ...below(run.run_id, depth + 1)]);
  return below(null, 0);
}
