// Watches every refusal that a test is answered with: an operation answers no code that openapi.json does not declare for it, and every
// body is the record that is declared for its status.
import { afterAll, expect } from 'vitest';
import { undeclaredIn } from './declared-refusals.ts';

const PROBLEM = 'application/problem+json';

const seen: Promise<string | undefined>[] = [];
const plainFetch = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const isOnSurface = response.status >= 400 && isOfSurface(response);
  if (isOnSurface || response.headers.get('content-type')?.startsWith(PROBLEM)) {
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    seen.push(undeclaredIn(method, response.clone()).catch(() => undefined));
  }
  return response;
};

afterAll(async () => {
  globalThis.fetch = plainFetch;
  const undeclared = (await Promise.all(seen)).filter((found) => found !== undefined);
  expect(
    [...new Set(undeclared)],
    'refusals that the contract does not declare (contract/src/openapi/answered-by.ts), or in another form than it declares',
  ).toEqual([]);
});

/** Refusals of a surface have no media type of their own. */
const isOfSurface = ({ headers }: Response): boolean => headers.get('content-type') === 'application/json';
