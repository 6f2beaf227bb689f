import { expect, test } from 'vitest';
import { treeOf } from './run-tree.ts';

const run = (run_id: string, parent_run_id: string | null = null) => ({ run_id, parent_run_id });
const shown = (runs: Parameters<typeof treeOf>[0]) => treeOf(runs).map((branch) => '  '.repeat(branch.depth) + branch.run.run_id);

test('child runs are below the run that began them, the newest first', () => {
  const runs = [run('c', 'b'), run('d', 'a'), run('b', 'a'), run('other'), run('a')];
  expect(shown(runs)).toEqual(['other', 'a', '  d', '  b', '    c']);
});

test('a run whose parent is not loaded yet is not lost', () => {
  expect(shown([run('c', 'b'), run('a')])).toEqual(['c', 'a']);
});
