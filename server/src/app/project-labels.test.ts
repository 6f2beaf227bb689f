import { expect, test } from 'vitest';
import { ProjectLabels } from './project-labels.ts';

test('the first hundred projects have series of their own, and all further ones share one', () => {
  const labels = new ProjectLabels();
  const ids = Array.from({ length: 200 }, (_, index) => `project-${index}`);
  const given = ids.map((id) => labels.of(id));
  expect(given.slice(0, 100)).toEqual(ids.slice(0, 100));
  expect(new Set(given.slice(100))).toEqual(new Set(['other']));
  // Those that have theirs keep it.
  expect(labels.of('project-7')).toBe('project-7');
  expect(labels.of(undefined)).toBe('none');
});
