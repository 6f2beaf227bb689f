import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entryAt, INDEX, leavesAround, rootOf, SIZE, WITNESS_NAME } from '../../scripts/vector-log.ts';
import {
  current,
  issue,
  keySet,
  LOG_ORIGIN,
  logCurrent,
  logRetired,
  noteKey,
  payloadWith,
  stranger,
  witness,
} from '../../scripts/vector-receipts.ts';
import { toHex } from '../encoding.ts';
import type { VaasKeySet } from '../receipt.ts';
import { verifyReceipt, verifyReceiptText } from '../verify.ts';
import { toVerifierKey } from './note.ts';

const entry = entryAt(leavesAround(), INDEX, { isWitnessed: true });
const logged = issue(payloadWith(), current, entry);
const of = (purpose: string, keys: VaasKeySet = keySet): VaasKeySet => ({ keys: keys.keys.filter((key) => key.purpose === purpose) });
const witnesses = { keys: [toVerifierKey(noteKey(witness, WITNESS_NAME, 'cosignature'))] };

test('says where the receipt stands, in which state of which log, and what that shows and does not', () => {
  expect(verifyReceipt(logged, keySet)).toMatchObject({
    valid: true,
    checks: { log: 'ok' },
    logged: { origin: LOG_ORIGIN, index: INDEX, tree_size: SIZE, root: toHex(rootOf(leavesAround())), witnesses: [] },
    proves: expect.arrayContaining([expect.stringContaining(`entry ${INDEX} of the log ${LOG_ORIGIN}`)]),
    does_not_prove: expect.arrayContaining([expect.stringContaining('shows everybody the same'), expect.stringContaining('public chain')]),
  });
});

test('no single changed character of the entry goes unnoticed', () => {
  const plain = issue(payloadWith(), current, entryAt(leavesAround(), INDEX));
  const text = JSON.stringify(plain);
  const [start, end] = [text.indexOf('"log"'), text.indexOf(',"anchor"')];
  fc.assert(
    fc.property(fc.integer({ min: start, max: end - 1 }), fc.constantFrom(...'019aAzZ+/="{}[],:.-e n\\'), (at, letter) => {
      fc.pre(text[at] !== letter);
      expect(verifyReceiptText(`${text.slice(0, at)}${letter}${text.slice(at + 1)}`, keySet).valid).toBe(false);
    }),
    { numRuns: 120 },
  );
});

test('anything at all in its place is an answer and not an exception, and never a proof', () => {
  fc.assert(
    fc.property(fc.anything(), (log) => {
      const verdict = verifyReceipt({ ...logged, log }, keySet);
      expect(verdict.valid && verdict.checks.log).not.toBe('ok');
    }),
    { numRuns: 60 },
  );
});

test('no path but its own leads from the receipt to the root', () => {
  const hashes = entry.inclusion_path;
  const paths = fc.array(fc.constantFrom(...hashes, ...leavesAround().map((leaf) => Buffer.from(leaf).toString('base64'))), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(paths, fc.nat({ max: SIZE + 2 }), (inclusion_path, index) => {
      fc.pre(index !== INDEX || inclusion_path.join() !== hashes.join());
      expect(verifyReceipt({ ...logged, log: { ...entry, inclusion_path, index } }, keySet)).toMatchObject({
        valid: false,
        code: 'not_in_log',
      });
    }),
    { numRuns: 60 },
  );
});

describe('the keys of the log', () => {
  test('that are not at hand leave the proof unchecked, and say so', () => {
    expect(verifyReceipt(logged, of('receipt'))).toMatchObject({
      valid: true,
      checks: { log: 'unchecked' },
      does_not_prove: expect.arrayContaining([expect.stringContaining('no key of the log was at hand')]),
    });
  });

  test('that are pinned take the place of the published ones', () => {
    const pinned = (key = logCurrent) => verifyReceipt(logged, of('receipt'), { logKeys: [toVerifierKey(noteKey(key))] });
    expect(pinned()).toMatchObject({ valid: true, checks: { log: 'ok' } });
    expect(verifyReceipt(logged, keySet, { logKeys: [toVerifierKey(noteKey(stranger))] })).toMatchObject({ code: 'unknown_log_key' });
    expect(verifyReceipt(logged, keySet, { logKeys: ['nonsense'] })).toMatchObject({ code: 'malformed_keys' });
  });

  test('may change: whoever knows only the old or only the new one can check what both signed', () => {
    const both = issue(payloadWith(), current, entryAt(leavesAround(), INDEX, { keys: [logRetired, logCurrent] }));
    for (const kept of [logRetired, logCurrent]) {
      const keys = keySet.keys.filter((key) => key.purpose === 'receipt' || key.x === kept.x).map((key) => ({ ...key, not_after: null }));
      expect(verifyReceipt(both, { keys })).toMatchObject({ valid: true, checks: { log: 'ok' } });
    }
  });

  test.each([
    ['whose verifier key is another', 'malformed_keys', { verifier_key: toVerifierKey(noteKey(stranger)) }],
    ['under another kid', 'kid_mismatch', { kid: stranger.kid }],
    ['without its period', 'malformed_keys', { not_after: undefined }],
  ])('%s are refused as %s', (_, code, changes) => {
    const keys = keySet.keys.map((key) => (key.purpose === 'checkpoint' ? { ...key, ...changes } : key));
    expect(verifyReceipt(logged, { keys })).toMatchObject({ valid: false, code });
  });
});

describe('witnesses', () => {
  test('that are known show who saw the state of the log, and when', () => {
    expect(verifyReceipt(logged, keySet, { witnesses: { ...witnesses, quorum: 1 } })).toMatchObject({
      valid: true,
      logged: { witnesses: [{ name: WITNESS_NAME, time: '2026-11-21T08:00:05.000Z' }] },
      proves: expect.arrayContaining([expect.stringContaining('so the receipt existed then')]),
    });
  });

  test('that are demanded and missing refuse the receipt', () => {
    const options = { witnesses: { ...witnesses, quorum: 1 } };
    const unwitnessed = issue(payloadWith(), current, entryAt(leavesAround(), INDEX));
    for (const receipt of [unwitnessed, issue(payloadWith())])
      expect(verifyReceipt(receipt, keySet, options)).toMatchObject({ valid: false, code: 'too_few_witnesses' });
    expect(verifyReceipt(logged, keySet, { witnesses: { ...witnesses, quorum: 2 } })).toMatchObject({ code: 'too_few_witnesses' });
  });
});
