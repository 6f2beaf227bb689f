import { expect, test } from 'vitest';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { ScimError } from './scim-error.ts';
import { patched } from './scim-patch.ts';
import { ScimPatch } from './scim-schemas.ts';

const times = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));
const ids = (count: number, from = 0) => times(count, (at) => ({ value: `id-${from + at}` }));
const wide = (members: number) => Object.fromEntries(times(members, (at) => [`a${at}`, 1]));
const group = { displayName: 'Everybody', members: ids(10_000) };

/** As a request says it, within its megabyte. */
const patch = (resource: object, Operations: readonly object[]) => patched({ ...resource }, ScimPatch.parse({ Operations }));

/** Each multiplies what one operation costs by what another one made. */
const HOSTILE: [string, readonly object[]][] = [
  ['adds members in many operations', times(1_000, (at) => ({ op: 'add', path: 'members', value: ids(50, at * 50) }))],
  [
    'adds to a list that it made long',
    [{ op: 'replace', path: 'members', value: ids(30_000) }, ...times(999, () => ({ op: 'add', path: 'members', value: 1 }))],
  ],
  ['removes one by one', times(1_000, (at) => ({ op: 'remove', path: `members[value eq "id-${at}"]` }))],
  ['removes values one by one', times(1_000, (at) => ({ op: 'remove', path: 'members', value: [{ value: `id-${at}` }] }))],
  ['sets attributes of many names', [{ op: 'add', value: wide(60_000) }]],
  [
    'sets parts of an object with many',
    [{ op: 'add', path: 'name', value: wide(60_000) }, ...times(999, (at) => ({ op: 'add', path: `name.b${at}`, value: 1 }))],
  ],
  [
    'sets parts of a wide member',
    [
      { op: 'replace', path: 'members', value: [{ value: 'x', ...wide(60_000) }] },
      ...times(999, (at) => ({ op: 'add', path: `members[value eq "x"].b${at}`, value: 1 })),
    ],
  ],
  [
    'merges a wide value into every member',
    [
      { op: 'replace', path: 'members', value: times(10_000, () => ({ type: 'x' })) },
      { op: 'replace', path: 'members[type eq "x"]', value: wide(60_000) },
    ],
  ],
  [
    'compares a list as text',
    [
      { op: 'replace', path: 'emails', value: [{ type: times(60_000, () => 1) }] },
      ...times(999, () => ({ op: 'remove', path: 'emails[type eq "x"]' })),
    ],
  ],
];

test.each(HOSTILE)('a PATCH that %s holds the event loop for 50 ms at most', async (what, operations) => {
  await expectTurns(what, 1024 * 1024, async () => {
    try {
      patch(group, operations);
    } catch (error) {
      expect(error).toBeInstanceOf(ScimError);
      expect(error).toMatchObject({ status: 413 });
    }
  });
});

test('a PATCH of fifty operations on the largest group is carried out', () => {
  const operations = times(50, (at) => ({ op: at % 2 ? 'add' : 'remove', path: 'members', value: ids(1, at % 2 ? 20_000 + at : at) }));
  expect(patch(group, operations)['members']).toHaveLength(10_000);
});

test('a PATCH changes nothing that it was given', () => {
  const before = { name: { givenName: 'Ada' }, members: ids(2) };
  const after = patch(before, [
    { op: 'replace', path: 'name.givenName', value: 'Augusta' },
    { op: 'add', path: 'members', value: ids(1, 2) },
  ]);
  expect(after).toEqual({ name: { givenName: 'Augusta' }, members: ids(3) });
  expect(before).toEqual({ name: { givenName: 'Ada' }, members: ids(2) });
});

test.each(['__proto__', '__proto__.active', 'name.__proto__', 'a'.repeat(401), 'a b'])('%s is no path of a PATCH', (path) => {
  const named = () => patched({}, { Operations: [{ op: 'add', value: JSON.parse(JSON.stringify({ x: 1 }).replace('x', path)) }] });
  expect(named).toThrow(expect.objectContaining({ scimType: 'invalidPath' }));
});
