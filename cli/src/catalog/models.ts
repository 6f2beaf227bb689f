import type { Model } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { type Column, printList } from '../print.ts';

const FIELDS = [
  'id',
  'owned_by',
  'kind',
  'created',
  'context_length',
  'max_output_tokens',
  'modalities',
  'capabilities',
  'supported_parameters',
  'endpoints',
  'pricing',
  'ladder',
];

const COLUMNS: readonly Column<Model>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'kind', of: ({ kind }) => kind },
  { title: 'by', of: ({ owned_by }) => owned_by },
  { title: 'context', of: ({ context_length }) => context_length, align: 'right' },
  { title: 'in usd/1m', of: ({ pricing }) => perMillion(pricing.prices.input_tokens), align: 'right' },
  { title: 'out usd/1m', of: ({ pricing }) => perMillion(pricing.prices.output_tokens), align: 'right' },
];

export const listModels = (command: Command, perform: Perform): Command => withJson(FIELDS, command).action(perform(list));

async function list(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  const { data } = await client.models.list({ signal: world.signal });
  printList(world, data, COLUMNS);
}

/** Moves the decimal point by six places in the text: a float would turn 0.15 into 0.15000000000000002. */
export function perMillion(perUnit: string | undefined): string | undefined {
  if (perUnit === undefined) return undefined;
  const [whole = '', fraction = ''] = perUnit.split('.');
  const moved = fraction.padEnd(6, '0');
  const left = `${whole}${moved.slice(0, 6)}`.replace(/^0+(?=\d)/, '');
  const right = moved.slice(6).replace(/0+$/, '');
  return right === '' ? left : `${left}.${right}`;
}
