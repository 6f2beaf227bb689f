import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { successionVectors } from '../../scripts/succession-vectors.ts';
import { fileLogStore } from '../node.ts';
import { KeysContradictedError, rememberKeys, rememberPolicy } from './kept-trust.ts';
import { type LogStore, memoryLogStore, webLogStore } from './log-store.ts';

const SERVICE = 'https://gateway.example';
const folder = mkdtempSync(join(tmpdir(), 'tallygate-kept-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const webStorage = () => {
  const texts = new Map<string, string>();
  return { getItem: (name: string) => texts.get(name) ?? null, setItem: (name: string, text: string) => void texts.set(name, text) };
};

/** What an application, a script in Node and a page in a browser keep, with a way to read the evidence. */
const STORES: readonly [string, () => { store: LogStore; read: (place: string) => string | null | undefined }][] = [
  ['in memory', () => ((store) => ({ store, read: (place: string) => store.evidence.get(place) }))(memoryLogStore())],
  ['in a folder', () => ({ store: fileLogStore(mkdtempSync(join(folder, 'one-'))), read: (place) => readFileSync(place, 'utf8') })],
  ['in localStorage', () => ((storage) => ({ store: webLogStore(storage), read: storage.getItem }))(webStorage())],
];

describe.each(STORES)('keys that are kept %s', (_, open) => {
  test.each(Object.entries(successionVectors))('are compared with those that are published: %s', async (_name, vector) => {
    const { kept, published, log, accepted, refused } = vector;
    const { store, read } = open();
    const asking = { store, declared: async () => [log] };
    expect(await rememberKeys(SERVICE, kept, { store, declared: () => expect.fail('Nothing has changed') })).toEqual(kept);
    const met = rememberKeys(SERVICE, published, asking);
    if (refused.length === 0) {
      const keys = await met;
      expect(keys.map(({ kid }) => kid).toSorted()).toEqual([...kept.map(({ kid }) => kid), ...accepted].toSorted());
      expect(await rememberKeys(SERVICE, published, { store, declared: () => expect.fail('These are kept') })).toEqual(keys);
      return;
    }
    const error = await met.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof KeysContradictedError)) throw new Error('These keys were taken', { cause: error });
    for (const kid of refused) expect(error.message).toContain(kid);
    const evidence = JSON.parse(read(error.evidence) ?? '');
    expect(evidence).toMatchObject({ object: 'key_contradiction_evidence', service: SERVICE, kept, met: published, declarations: [log] });
    // What was kept stays what counts.
    expect(await rememberKeys(SERVICE, kept, asking)).toEqual(kept);
    expect(await rememberKeys('https://other.example', published, asking)).toEqual(published);
  });

  test('stay beside a policy, of which none that is older is taken', async () => {
    const { store, read } = open();
    const pages = [{ data: [] }];
    expect(await rememberPolicy(SERVICE, 7, pages, store)).toBeUndefined();
    expect(await rememberPolicy(SERVICE, 9, pages, store)).toBeUndefined();
    const place = (await rememberPolicy(SERVICE, 7, pages, store)) ?? expect.fail('An older policy was taken');
    expect(JSON.parse(read(place) ?? '')).toMatchObject({ object: 'withheld_policy_evidence', kept: 9, met: 7, declarations: pages });
    expect(await rememberPolicy(SERVICE, 9, pages, store)).toBeUndefined();
  });
});

test('two processes that share a store keep what both have seen', async () => {
  const { kept = [], published = [], log } = successionVectors['rotation'] ?? {};
  const store = memoryLogStore();
  const declared = async () => [log];
  await rememberKeys(SERVICE, kept, { store, declared });
  await Promise.all([rememberKeys(SERVICE, published, { store, declared }), rememberPolicy(SERVICE, 3, [], store)]);
  expect(await rememberPolicy(SERVICE, 2, [], store)).toBeDefined();
  expect(await rememberKeys(SERVICE, published, { store, declared: () => expect.fail('These are kept') })).toHaveLength(published.length);
});
