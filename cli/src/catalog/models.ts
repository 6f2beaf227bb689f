import type { Model } from '@tallygate/sdk';
import type { Command } from 'commander';
import { alsoAsList, type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ModelFields } from '../generated/fields.ts';
import { type Column, printList, printRecord } from '../print.ts';

const COLUMNS: readonly Column<Model>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'kind', of: ({ kind }) => kind },
  { title: 'by', of: ({ owned_by }) => owned_by },
  { title: 'context', of: ({ context_length }) => context_length, align: 'right' },
  { title: 'in usd/1m', of: ({ pricing }) => perMillion(pricing?.prices.input_tokens), align: 'right' },
  { title: 'out usd/1m', of: ({ pricing }) => (pricing ? perMillion(pricing.prices.output_tokens) : 'no price'), align: 'right' },
];

const LINES: readonly Column<Model>[] = [
  { title: 'Id', of: ({ id }) => id },
  { title: 'Kind', of: ({ kind }) => kind },
  { title: 'By', of: ({ owned_by }) => owned_by },
  { title: 'Context', of: ({ context_length }) => context_length },
  { title: 'Most out', of: ({ max_output_tokens }) => max_output_tokens },
  { title: 'Takes', of: ({ modalities }) => modalities.input.join(', ') },
  { title: 'Gives', of: ({ modalities }) => modalities.output.join(', ') },
  { title: 'Can', of: ({ capabilities }) => capabilities.join(', ') },
  { title: 'Serves', of: ({ endpoints }) => endpoints.join(', ') },
  { title: 'Also called', of: ({ aliases }) => aliases.join(', ') || undefined },
  { title: 'Fallbacks', of: ({ ladder }) => ladder.join(', ') || undefined },
  { title: 'Retired', of: ({ retired }) => retired ?? undefined },
  { title: 'Prices', of: ({ pricing }) => (pricing ? pricesText(pricing) : 'none: `tallygate models price` sets one') },
  { title: 'In force', of: ({ pricing }) => pricing && `${pricing.effective_from} (version ${pricing.version})` },
  { title: 'From', of: ({ pricing }) => pricing && `${pricing.source}${pricing.cited === null ? '' : `: ${pricing.cited}`}` },
];

/** `input_tokens 0.15 USD/1M`; what is not counted in tokens has its price per unit. */
const pricesText = ({ prices }: NonNullable<Model['pricing']>): string =>
  Object.entries(prices)
    .map(([meter, price]) => (meter.endsWith('_tokens') ? `${meter} ${perMillion(price)} USD/1M` : `${meter} ${price} USD`))
    .join(', ');

interface Options {
  readonly all?: boolean;
}

export const models = (command: Command, perform: Perform): Command => {
  const action = perform(show);
  return alsoAsList(
    withJson(ModelFields, command.argument('[model]', 'only this one')).option(
      '--all',
      'the whole catalogue: models without a price or a provider too',
    ),
    action,
  );
};

async function show(world: CommandWorld, { args: [id], options }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  if (id !== undefined) {
    showModel(world, await client.models.get(id, { signal: world.signal }));
    return;
  }
  const { data } = await client.models.list({ ...(options.all && { all: true }), signal: world.signal });
  printList(world, data, COLUMNS);
}

export const showModel = (world: CommandWorld, model: Model): void => printRecord(world, model, LINES);

/** Moves the decimal point by six places in the text: a float would turn 0.15 into 0.15000000000000002. */
export function perMillion(perUnit: string | undefined): string | undefined {
  if (perUnit === undefined) return undefined;
  const [whole = '', fraction = ''] = perUnit.split('.');
  const moved = fraction.padEnd(6, '0');
  const left = `${whole}${moved.slice(0, 6)}`.replace(/^0+(?=\d)/, '');
  const right = moved.slice(6).replace(/0+$/, '');
  return right === '' ? left : `${left}.${right}`;
}
