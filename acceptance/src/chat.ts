import { openAiCodeAt, Problem } from '@tallygate/contract';
import { expect } from 'vitest';
import * as z from 'zod';
import type { Account } from './account.ts';
import type { Gateway } from './gateway.ts';
import { openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';

/** An answer read to its end. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export const MODEL = 'gpt-4o-mini';
export const HELLO = { model: MODEL, messages: [{ role: 'user' as const, content: 'Say hello.' }] };

/** One chat completion, sent as `curl` would. A string is sent as it is. Without a key, `headers` have to carry the credential. */
export async function ask(
  gateway: Gateway,
  key: string | undefined,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const Usage = z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), cost: z.number() });
const Completion = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string().nullable() }) })),
  usage: Usage,
});
const Chunk = z.looseObject({
  choices: z.array(z.looseObject({ delta: z.looseObject({ content: z.string().nullish() }) })).optional(),
  usage: Usage.nullish(),
  error: z.looseObject({ message: z.string(), code: z.string().nullable() }).optional(),
});

export const completionOf = ({ text }: Answered): z.infer<typeof Completion> => Completion.parse(JSON.parse(text));

/** The problem document of a refusal, checked to be one. */
export function problemOf({ status, headers, text }: Answered): Problem {
  expect({ status, type: headers.get('content-type') }).toEqual({ status, type: 'application/problem+json' });
  const problem = Problem.parse(JSON.parse(text));
  expect(problem).toMatchObject({ status, error: { message: problem.detail } });
  // What a provider refused has the provider’s own code, which may be null.
  if (problem.code !== 'upstream_rejected')
    expect([problem.code, openAiCodeAt('/v1/chat/completions', problem.code)]).toContain(problem.error.code);
  return problem;
}

/** The events of a stream's text, `[DONE]` left out. */
export const eventsOf = ({ text }: Answered): z.infer<typeof Chunk>[] =>
  text.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = /^data: ?(.*)$/m.exec(event)?.[1];
    return data === undefined || data === '[DONE]' ? [] : [Chunk.parse(JSON.parse(data))];
  });

export const isDone = ({ text }: Answered): boolean => /(^|\n)data: \[DONE\]\r?\n/.test(text);

/** What a header says; fails the test where it is missing. */
export function header({ headers }: Pick<Answered, 'headers'>, name: string): string {
  const value = headers.get(name);
  if (value === null) throw new Error(`The answer has no header ${name}: ${[...headers.keys()].join(', ')}`);
  return value;
}

/** Proves that the request is in the ledger exactly once, with a receipt that verifies. @returns its trace and its receipt's payload */
export async function settledOnce(gateway: Gateway, account: Account, answered: Pick<Answered, 'headers'>) {
  const trace = await account.trace(header(answered, 'x-request-id'));
  expect(trace.receipt_id).toBe(header(answered, 'x-receipt-id'));
  await using ledger = await openLedgerAudit(gateway);
  const entry = (await ledger.entriesOf([trace.request_id])).get(trace.request_id);
  expect(entry).toMatchObject({ records: 1, postings: 1, receipts: 1, receiptId: trace.receipt_id });
  expect(await ledger.faults()).toEqual([]);
  const receipt = await verifiedReceipt(gateway, trace.receipt_id);
  expect(receipt).toMatchObject({ request_id: trace.request_id, outcome: trace.outcome, estimated: trace.estimated, usage: trace.usage });
  return { trace, receipt };
}
