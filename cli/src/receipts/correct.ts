import type { CorrectionRequest, CorrectionResponse, RefundResponse } from '@tallygate/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { type Column, printRecord } from '../print.ts';
import { usageText } from './calculation.ts';

type Usage = CorrectionRequest['usage'];

const NOTHING: Usage = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

const OF_BOTH = ['receipt_id', 'account_id', 'request_id', 'reason', 'cost_usd', 'charged_usd'];

const CORRECTION: readonly Column<CorrectionResponse>[] = [
  { title: 'Receipt', of: ({ receipt_id }) => `${receipt_id}, in the place of` },
  { title: '', of: ({ corrects }) => corrects },
  { title: 'Usage', of: ({ usage }) => usageText(usage) },
  { title: 'Cost', of: ({ cost_usd, cost_before_usd }) => `${cost_usd} USD, before ${cost_before_usd}` },
  { title: 'Charged', of: ({ charged_usd, charged_before_usd }) => `${charged_usd} USD, before ${charged_before_usd}` },
];

const REFUND: readonly Column<RefundResponse>[] = [
  { title: 'Receipt', of: ({ receipt_id }) => receipt_id },
  { title: 'Refunded', of: ({ cost_usd, charged_usd }) => `${cost_usd} USD, of which ${charged_usd} had been charged` },
];

const REASON = ['--reason <text>', 'shown in the receipt, which is public to anyone who knows its id'] as const;

export const correctRequest = (receipts: Command, perform: Perform): Command =>
  withJson(
    [...OF_BOTH, 'correction_id', 'corrects', 'usage', 'cost_before_usd', 'charged_before_usd', 'corrected_at'],
    receipts
      .command('correct')
      .description('Correct the usage of a request, once; for administrators')
      .argument('<request>', 'the X-Request-Id of the answer')
      .requiredOption('--usage <meter=count,…>', 'all that was used, such as input_tokens=9,output_tokens=6', usageOf)
      .requiredOption(...REASON),
  ).action(perform(correct));

export const refundRequest = (receipts: Command, perform: Perform): Command =>
  withJson(
    [...OF_BOTH, 'refund_id', 'refund_of', 'refunded_at'],
    receipts
      .command('refund')
      .description('Refund the whole cost of a request, once; for administrators')
      .argument('<request>', 'the X-Request-Id of the answer')
      .requiredOption(...REASON),
  ).action(perform(refund));

interface Correction {
  readonly usage: Usage;
  readonly reason: string;
}

async function correct(world: CommandWorld, { args: [request_id = ''], options: { usage, reason } }: Typed<Correction>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.requests.correct({ request_id, usage, reason }, { signal: world.signal }), CORRECTION);
}

async function refund(
  world: CommandWorld,
  { args: [request_id = ''], options: { reason } }: Typed<{ readonly reason: string }>,
): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.requests.refund({ request_id, reason }, { signal: world.signal }), REFUND);
}

/** Counts by meter. Which meters there are the service knows: it refuses others. */
function usageOf(text: string): Usage {
  const counts = text.split(',').map((pair) => {
    const [, meter, count] = /^\s*([a-z0-9_]+)=(\d{1,9})\s*$/.exec(pair) ?? [];
    if (meter === undefined) throw new InvalidArgumentError('Expected counts by meter, such as input_tokens=9,output_tokens=6.');
    return [meter, Number(count)] as const;
  });
  return { ...NOTHING, ...Object.fromEntries(counts) };
}
