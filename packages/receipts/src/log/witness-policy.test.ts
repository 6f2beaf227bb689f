import { expect, it } from 'vitest';
import { noteKey, stranger, witness } from '../../scripts/vector-receipts.ts';
import { toVerifierKey } from './note.ts';
import { formatWitnessPolicy, majorityOf, parseWitnessPolicy } from './witness-policy.ts';

const one = toVerifierKey(noteKey(witness, 'one.example', 'cosignature'));
const two = toVerifierKey(noteKey(stranger, 'two.example', 'cosignature'));

it.each([
  [`1 of ${one}`, { keys: [one], quorum: 1 }],
  [` 2  of ${one}\n ${two}\n`, { keys: [one, two], quorum: 2 }],
  [`all of ${one} ${two}`, { keys: [one, two], quorum: 2 }],
  [`any of ${one} ${two}`, { keys: [one, two], quorum: 1 }],
])('a policy is one line: %#', (text, policy) => {
  expect(parseWitnessPolicy(text)).toEqual(policy);
  expect(parseWitnessPolicy(formatWitnessPolicy(policy))).toEqual(policy);
});

it.each([
  ['nothing', ''],
  ['no number', `of ${one}`],
  ['none demanded', `0 of ${one}`],
  ['more demanded than named', `2 of ${one}`],
  ['a witness twice', `2 of ${one} ${one}`],
  ['the key of a log', `1 of ${toVerifierKey(noteKey(witness, 'log.example'))}`],
  ['no key', '1 of witness.example'],
])('what is no policy is none: %s', (_, text) => expect(parseWitnessPolicy(text)).toBeUndefined());

it('a majority of witnesses is more than half of them', () => {
  expect([1, 2, 3, 4, 5].map(majorityOf)).toEqual([1, 2, 2, 3, 3]);
});
