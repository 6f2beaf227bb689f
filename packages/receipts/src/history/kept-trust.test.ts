import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { declarationVectors } from '../../scripts/declaration-vectors.ts';
import { successionVectors } from '../../scripts/succession-vectors.ts';
import { keySet } from '../../scripts/vector-receipts.ts';
import { fileLogStore } from '../node.ts';
import { DeclarationsContradictedError, KeysContradictedError, rememberDeclarations, rememberKeys } from './kept-trust.ts';
import { type LogStore, memoryLogStore, webLogStore } from './log-store.ts';

const SERVICE = 'https://gateway.example';
/** Of a state of the log that goes together with those before it. */
const remember = async () => {};
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

/** The kept one is of the longer list. */
const { 'ends-before-kept': short, 'in-order': whole } = declarationVectors;

describe.each(STORES)('keys that are kept %s', (_, open) => {
  test.each(Object.entries(successionVectors))('are compared with those that are published: %s', async (_name, vector) => {
    const { kept, published, log, accepted, refused } = vector;
    const { store, read } = open();
    const asking = { store, remember, declared: async () => [log] };
    expect(await rememberKeys(SERVICE, kept, { store, remember, declared: () => expect.fail('Nothing has changed') })).toEqual(kept);
    const met = rememberKeys(SERVICE, published, asking);
    if (refused.length === 0) {
      const keys = await met;
      expect(keys.map(({ kid }) => kid).toSorted()).toEqual([...kept.map(({ kid }) => kid), ...accepted].toSorted());
      expect(await rememberKeys(SERVICE, published, { store, remember, declared: () => expect.fail('These are kept') })).toEqual(keys);
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

  test('stay beside what the log declared, of which none is left out later', async () => {
    const { store, read } = open();
    const look = (...pages: readonly unknown[]) =>
      rememberDeclarations(SERVICE, ['policy'], { keys: keySet.keys, store, remember, listed: async () => pages });
    expect(await look(...short.pages)).toEqual({ policy: short.pages });
    await look(...whole.pages);
    const error = await look(...short.pages).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof DeclarationsContradictedError)) throw new Error('A list that ends earlier was taken', { cause: error });
    const evidence = {
      object: 'declaration_evidence',
      code: 'declaration_missing',
      kept: { declaration: short.kept?.declaration },
      declarations: short.pages,
    };
    expect(JSON.parse(read(error.evidence) ?? '')).toMatchObject(evidence);
    await look(...whole.pages);
  });
});

test('what was seen of the declarations is not asked for again, and a list from there on is missed nothing of', async () => {
  const store = memoryLogStore();
  const [page = { data: [] }] = whole.pages as readonly { readonly data: readonly unknown[] }[];
  const asked: (string | undefined)[] = [];
  const look = (...pages: readonly unknown[]) =>
    rememberDeclarations(SERVICE, ['policy'], {
      ...{ keys: keySet.keys, store, remember },
      listed: async (_, cursor) => {
        asked.push(cursor);
        return pages;
      },
    });
  const part = (from: number, to = page.data.length) => ({ ...page, data: page.data.slice(from, to) });
  await look({ ...part(0, 1), next_cursor: 'behind the first' }, { ...part(1), next_cursor: null });
  await look({ ...part(1), next_cursor: null });
  expect(asked).toEqual([undefined, 'behind the first']);
  for (const short of [part(1, page.data.length - 1), part(page.data.length)])
    await expect(look({ ...short, next_cursor: null })).rejects.toMatchObject({ code: 'declarations_contradicted' });
});

test('two processes that share a store keep what both have seen', async () => {
  const { kept = [], published = [], log } = successionVectors['rotation'] ?? {};
  const store = memoryLogStore();
  const declared = async () => [log];
  await rememberKeys(SERVICE, kept, { store, remember, declared });
  const listed = (pages: readonly unknown[]) => ({ keys: keySet.keys, store, remember, listed: async () => pages });
  await Promise.all([
    rememberKeys(SERVICE, published, { store, remember, declared }),
    rememberDeclarations(SERVICE, ['policy'], listed(whole.pages)),
  ]);
  await expect(rememberDeclarations(SERVICE, ['policy'], listed(short.pages))).rejects.toThrow(DeclarationsContradictedError);
  expect(await rememberKeys(SERVICE, published, { store, remember, declared: () => expect.fail('These are kept') })).toHaveLength(
    published.length,
  );
});

test('what a state of the log proves is not taken before that state is compared with those that were seen', async () => {
  const { kept = [], published = [], log = {} } = successionVectors['retirement'] ?? {};
  const store = memoryLogStore();
  const forked = async () => {
    throw new Error('The log has shown two pasts.');
  };
  await rememberKeys(SERVICE, kept, { store, remember: forked, declared: async () => [log] });
  await expect(rememberKeys(SERVICE, published, { store, remember: forked, declared: async () => [log] })).rejects.toThrow('two pasts');
  const asking = { keys: keySet.keys, store, listed: async () => short.pages };
  await expect(rememberDeclarations(SERVICE, ['policy'], { ...asking, remember: forked })).rejects.toThrow('two pasts');
  const met = new Set<string>();
  const remembering = { store, remember: async (note: string) => void met.add(note) };
  expect(await rememberKeys(SERVICE, kept, { ...remembering, declared: () => expect.fail('These are kept') })).toEqual(kept);
  await rememberKeys(SERVICE, published, { ...remembering, declared: async () => [log] });
  await rememberDeclarations(SERVICE, ['policy'], { ...asking, ...remembering });
  expect([...met]).toEqual([log, ...short.pages].map((page) => Object(page).checkpoint));
});
