import type { Step } from '@tallygate/fake-upstream';
import { describe, expect, test } from 'vitest';
import { CASES, fake, play, type Scenario, startProvider } from './testing/provider-bills.ts';

/** What a provider bills is what is settled, also of an answer with the status 200 that broke off or is none. */

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps' | 'stream'> = {
  ...{ ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
};
const JSON_HEAD = { 'content-type': 'application/json' };
const BROKEN: readonly (readonly [string, Step])[] = [
  ['is reset behind its head', { cut: { at: 'after_head', how: 'reset' } }],
  ['breaks off behind its first piece', { pieceBytes: 40, cut: { at: 1, how: 'reset' } }],
  ['ends in an orderly way in its middle', { pieceBytes: 40, cut: { at: 1, how: 'fin' } }],
  ['is no HTTP from its middle on', { pieceBytes: 40, cut: { at: 1, how: 'garbage' } }],
  ['is in an encoding that was not asked for', { headers: { 'content-encoding': 'gzip' } }],
  ['is empty', { headers: JSON_HEAD, body: '' }],
  ['is a page', { headers: { 'content-type': 'text/html' }, body: '<html><body>Welcome</body></html>' }],
];
const ANSWERS = CASES.filter(({ isFree }) => !isFree).flatMap((one) =>
  [false, ...(one.canStream ? [true] : [])].flatMap((stream) =>
    BROKEN.map(([fault, step]) => ({ ...{ one, name: one.name, stream, fault }, step: { ...step, tokens: 20 } })),
  ),
);

describe.each(ANSWERS)('an answer of $name (stream: $stream) that $fault', ({ one, stream, step }) => {
  test('is charged, within its hold', async () => {
    const { records, settled, held, stillHeld } = await play({ ...scenario, one, stream, steps: [step] });
    expect(settled).toBeGreaterThan(0n);
    expect(settled).toBeLessThanOrEqual(held);
    expect(records).toHaveLength(1);
    expect(stillHeld).toBe(0n);
  });
});

test('the deployment that is asked in place of one that broke off is paid beside it', async () => {
  const [one] = CASES;
  if (!one) throw new Error('There is no case');
  const steps: Scenario['steps'] = [{ cut: { at: 'after_head', how: 'reset' } }, { tokens: 3 }];
  const { records, stillHeld } = await play({ ...scenario, one, stream: false, steps });
  expect(fake.requests).toHaveLength(2);
  expect(records.find(({ attempt }) => attempt === 1)).toMatchObject({ outcome: 'cut', estimated: true, usage: { output_tokens: 400 } });
  expect(records.find(({ attempt }) => attempt === 2)).toMatchObject({ outcome: 'completed', usage: { output_tokens: 3 } });
  expect(stillHeld).toBe(0n);
});
