import { bedrockSteps, type Step } from '@tallygate/fake-upstream';
import { describe, expect, test } from 'vitest';
import { faultOfFirstError } from './begun-with-error.ts';
import { CASES, type Case, fake, play, type Scenario, startProvider } from './testing/provider-bills.ts';

/** What a provider bills is what is settled, also of an answer with the status 200 that broke off or is none. */

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps' | 'stream'> = {
  ...{ ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
  // A provider that seems late on a busy machine is settled in another way.
  timeoutMs: 60_000,
};
const JSON_HEAD = { 'content-type': 'application/json' };
const BROKEN: readonly (readonly [string, Step])[] = [
  ['is reset behind its head', { cut: { at: 'after_head', how: 'reset' } }],
  ['breaks off behind its first piece', { pieceBytes: 40, cut: { at: 1, how: 'reset' } }],
  ['ends in an orderly way in its middle', { pieceBytes: 40, cut: { at: 1, how: 'fin' } }],
  ['is no HTTP from its middle on', { pieceBytes: 40, cut: { at: 1, how: 'garbage' } }],
  ['is not in the encoding that its head names', { headers: { 'content-encoding': 'gzip' } }],
  ['is empty', { headers: JSON_HEAD, body: '' }],
  ['is in an encoding that nobody here reads', { headers: { 'content-encoding': 'compress' } }],
  ['is text', { headers: { 'content-type': 'text/html' }, body: 'Welcome to this server.' }],
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

const exception = (name: string, message: string): Step => bedrockSteps.stream(bedrockSteps.exceptionFrame(name, { message }));
const openAiError = (type: string, code: string | null): Step => ({
  body: `data: ${JSON.stringify({ error: { message: 'No.', type, code, param: null } })}\n\n`,
  headers: { 'content-type': 'text/event-stream' },
});
const anthropicError = (type: string): Step => ({
  body: `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message: 'No.' } })}\n\n`,
  headers: { 'content-type': 'text/event-stream' },
});
const TOO_LONG = { status: 400, code: 'upstream_rejected' };
const LIMITED = { status: 429, code: 'upstream_rate_limited' };

test.each([
  ['chat, Bedrock', exception('throttlingException', 'Wait.'), LIMITED],
  ['chat, Bedrock', exception('validationException', 'Input is too long for requested model.'), TOO_LONG],
  ['chat, Bedrock', exception('modelStreamErrorException', 'No.'), { status: 502, code: 'upstream_failed' }],
  ['chat, Anthropic', anthropicError('rate_limit_error'), LIMITED],
  ['chat, Anthropic', anthropicError('overloaded_error'), { status: 502, code: 'upstream_failed' }],
  ['chat, OpenAI', openAiError('requests', 'rate_limit_exceeded'), LIMITED],
  ['chat, OpenAI', openAiError('invalid_request_error', 'context_length_exceeded'), TOO_LONG],
] as const)('%s: an error that a stream begins with is told as its status would be, and is free', async (name, step, told) => {
  const one = CASES.find((each) => each.name === name);
  if (!one) throw new Error(name);
  const { sent, settled, stillHeld } = await play({ ...scenario, one, stream: true, steps: [step, step, step] });
  expect(JSON.parse(sent.body.toString())).toMatchObject(told);
  expect([settled, stillHeld]).toEqual([0n, 0n]);
});

test.each([
  { type: 'context_length_exceeded', code: null },
  { type: 'server_error', code: 'context_length_exceeded' },
])('the code of an error that a stream begins with stays the provider’s: %o', (names) => {
  const fault = faultOfFirstError({ message: 'No.', ...names });
  expect(fault).toMatchObject({ kind: 'rejected', retryable: false, message: 'No.', code: 'context_length_exceeded' });
});

const PAGES: readonly (readonly [string, Step])[] = [
  ['a portal', { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html>\n<html><body>Log in</body></html>' }],
  ['a portal, cut anywhere', { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '\ufeff \n<html lang="en">', pieceBytes: 1 }],
  ['a portal, encoded', { headers: { 'content-type': 'TEXT/HTML' }, body: '<!doctype html><title>Hi</title>', encoding: 'gzip' }],
];
const ASKED = ANSWERS.filter(({ fault }) => fault === 'is text');

describe.each(ASKED)('a page in place of an answer of $name (stream: $stream)', ({ one, stream }) => {
  test.each(PAGES)('of %s costs nothing, and the next deployment is asked', async (_, page) => {
    const { records, billed, settled, stillHeld } = await play({ ...scenario, one, stream, steps: [page, { tokens: 20 }] });
    expect(fake.requests).toHaveLength(2);
    expect(records).toMatchObject([{ outcome: 'completed', attempt: 1 }]);
    expect(settled).toBe(billed);
    expect(stillHeld).toBe(0n);
  });
});

test.each(['nobody', 'client'] as const)('pages alone cost nothing (who leaves: %s)', async (ending) => {
  const [one] = CASES;
  if (!one) throw new Error('There is no case');
  const steps: Scenario['steps'] = [{ headers: { 'content-type': 'text/html' }, body: '<html></html>', delayMs: 30 }];
  const { record, settled, stillHeld } = await play({ ...scenario, ending, one, stream: true, steps });
  expect([record.outcome, settled, stillHeld]).toEqual(['failed', 0n, 0n]);
});

/** What says nothing of the provider's work, which it bills. */
const UNSAID: readonly (readonly [string, Step])[] = [
  ['is reset', { cut: { at: 'before_head', how: 'reset' } }],
  ['is closed', { cut: { at: 'before_head', how: 'fin' } }],
  ['turns into garbage', { cut: { at: 'before_head', how: 'garbage' } }],
  ['is given up by a proxy', { status: 504, headers: { 'content-type': 'text/html' }, body: '<html>Gateway time-out</html>' }],
];
const lost = (one: Case, stream: boolean, [loss, step]: (typeof UNSAID)[number]) => ({
  ...{ one, name: one.name, stream, loss },
  step: { ...step, tokens: 20, billsAnyway: true } as const,
});
/** Plain and streamed in turn. */
const LOST = CASES.flatMap((one, index) => UNSAID.map((unsaid, at) => lost(one, one.canStream && (index + at) % 2 === 0, unsaid)));

describe.each(LOST)('a connection of $name (stream: $stream) that $loss before the answer', ({ one, stream, step }) => {
  test('costs what was held, where the client left before', async () => {
    const { billed, settled, held, records, stillHeld } = await play({
      ...{ ...scenario, one, stream, ending: 'client', steps: [{ ...step, delayMs: 5 }] },
    });
    expect({ billed: billed <= settled, settled: settled <= held }).toEqual({ billed: true, settled: true });
    expect(settled > 0n).toBe(!one.isFree);
    expect(records).toMatchObject([{ outcome: 'cancelled', estimated: true }]);
    expect(stillHeld).toBe(0n);
  });
});

describe.each(LOST.filter(({ loss }) => loss === 'is reset'))(
  'a connection of $name (stream: $stream) that $loss',
  ({ one, stream, step }) => {
    test('costs a client that waits nothing, and the next deployment is asked', async () => {
      const { records, stillHeld } = await play({ ...scenario, one, stream, steps: [step, { tokens: 20 }] });
      expect(fake.requests).toHaveLength(2);
      expect(records).toMatchObject([{ outcome: 'completed', attempt: 1 }]);
      expect(stillHeld).toBe(0n);
    });
  },
);
