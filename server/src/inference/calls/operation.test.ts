import { expect, test } from 'vitest';
import { statelessOperations } from './operations.ts';
import { callOf } from './testing/inference.ts';

const recordings = { lengthOf: async () => ({ seconds: 1, mostSeconds: 1 }), close: async () => {} };
const operations = statelessOperations({ recordings });
const received = { bytes: Buffer.alloc(0), files: [], sha256: () => 'x' };
/** As every way in does it: HTTP, a line of a batch, a tool of MCP, which is HTTP from inside. */
const work = (path: string, body: object, schemaOf: 'schema' | 'formSchema') => () => {
  const operation = operations.find((one) => one.path === path);
  if (!operation) throw new Error(path);
  return operation.workOf(operation[schemaOf].parse(body), received, callOf({}).grant);
};

test.each([
  ['/v1/embeddings', { model: 'm', input: 'a', Input: ['b'] }, 'schema', 'Input'],
  ['/v1/completions', { model: 'm', prompt: 'a', bestOf: 20 }, 'schema', 'bestOf'],
  ['/v1/images/generations', { prompt: 'a', N: 10 }, 'schema', 'N'],
  ['/v1/images/edits', { prompt: 'a', N: '10' }, 'formSchema', 'N'],
  ['/v1/images/variations', { Size: '4096x4096' }, 'formSchema', 'Size'],
  ['/v1/audio/transcriptions', { model: 'm', Prompt: 'a' }, 'formSchema', 'Prompt'],
  ['/v1/audio/speech', { model: 'm', input: 'a', voice: 'alloy', INPUT: 'b' }, 'schema', 'INPUT'],
] as const)('%s makes no work of a name that only looks like a known one, in JSON or a form', (path, body, schemaOf, param) => {
  expect(work(path, body, schemaOf)).toThrow(
    expect.objectContaining({ code: 'validation_failed', extras: expect.objectContaining({ param }) }),
  );
});
