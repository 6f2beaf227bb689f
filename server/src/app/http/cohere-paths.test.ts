import { expect, test } from 'vitest';
import { withoutCohere } from './cohere-paths.ts';

test.each([
  ['/v2/rerank', '/v1/rerank'],
  ['/v2/rerank/', '/v1/rerank/'],
  ['/v2/rerank?a=1', '/v1/rerank?a=1'],
])('a ranking that is asked for at %s is that of /v1', (target, path) => {
  expect(withoutCohere(target)).toBe(path);
});

test.each(['/v2/chat', '/v2/rerank/a', '/v2', '/v1/rerank', '/v1/v2/rerank'])('%s stays as it was', (target) => {
  expect(withoutCohere(target)).toBe(target);
});
