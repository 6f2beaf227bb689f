import { describe, expect, test } from 'vitest';
import { CASES, fake, play, type Scenario, startProvider } from './testing/provider-bills.ts';

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps'> = {
  ...{ stream: true, ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
  ...{ timeoutMs: 20_000, readOnMs: 20_000 },
};
/** Asked after the first, it would be billed too. */
const FALLBACK = { tokens: 3 };
const garbage = (event: string | Uint8Array) => ({ at: 12, event });
const caseOf = (name: string) => CASES.filter((one) => one.name === name);
/** It begins as an event does that is passed on as it came. */
const UNREADABLE = [
  ...CASES.filter(({ name }) => /^(chat|completions|responses|messages, Bedrock)/.test(name)).map((one) => ({
    ...{ name: one.name, one, inserted: garbage(one.unreadable ?? 'data: {{{garbage\n\n') },
  })),
  ...caseOf('chat, OpenAI').map((one) => ({
    ...{ name: 'chat, OpenAI, half an event', one, inserted: garbage('data: {"id":"c","choices":[{"index":0,"delta":{"con\n\n') },
  })),
  ...caseOf('responses').map((one) => ({
    ...{ name: 'responses, under a name', one, inserted: garbage('event: response.output_text.delta\ndata: {{{garbage\n\n') },
  })),
];

describe.each(UNREADABLE)('$name', ({ one, inserted }) => {
  test.each([undefined, 1_000_000])(
    'is charged what the provider bills behind an event that cannot be read (pieces: %s)',
    async (pieceBytes) => {
      const first = { tokens: 200, inserted, ...(pieceBytes !== undefined && { pieceBytes }) };
      const { billed, settled, record, records, sent } = await play({ ...scenario, one, steps: [first, FALLBACK] });
      expect(sent.body.toString()).not.toMatch(/garbage|garbled|data: \{"id":"c","choices":\[\{"index":0,"delta":\{"con\n/);
      expect(fake.requests).toHaveLength(1);
      expect(sent.body.toString()).toContain('tok1');
      expect(sent.body.toString().trimEnd().split('\n\n').at(-1)).toMatch(/upstream_failed|^event: error/);
      expect(records).toHaveLength(1);
      expect(record).toMatchObject({ outcome: 'abandoned', estimated: false });
      expect(billed > 0n).toBe(true);
      expect(settled).toBe(billed);
    },
  );

  test('is charged what was held where the provider breaks off behind an event that cannot be read', async () => {
    const first = { tokens: 200, inserted, cut: { at: 20, how: 'reset' } } as const;
    const { billed, settled, record } = await play({ ...scenario, one, steps: [first, FALLBACK] });
    expect(record.estimated).toBe(true);
    expect(settled >= billed).toBe(true);
  });
});

test('a stream of responses is read on behind an event of another shape', async () => {
  const [one] = caseOf('responses');
  if (!one) throw new Error('There is such a case');
  const first = { tokens: 200, padding: 3_000_000, paddingAt: 12 };
  const { billed, settled, sent } = await play({ ...scenario, one, steps: [first, FALLBACK] });
  expect(sent.body.toString()).toContain('upstream_failed');
  expect(settled).toBe(billed);
});
