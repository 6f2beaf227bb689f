import type { PriceInput } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { type Moment, moment, pairs, timeText } from '../option-values.ts';
import { type Column, printRecord } from '../print.ts';
import { perMillion } from './models.ts';

export interface PriceOptions {
  readonly input?: string;
  readonly output?: string;
  readonly cachedInput?: string;
  readonly meter?: Readonly<Record<string, string>>;
  readonly batchFactor?: string;
  readonly from?: Moment;
  readonly source?: string;
}

type Priced = Awaited<ReturnType<Awaited<ReturnType<CommandWorld['connect']>>['models']['setPrice']>>;

const LINES: readonly Column<Priced>[] = [
  { title: 'Model', of: ({ id }) => id },
  { title: 'Version', of: ({ pricing }) => pricing.version },
  { title: 'In force', of: ({ pricing }) => pricing.effective_from },
  {
    title: 'Prices',
    of: ({ pricing }) =>
      Object.entries(pricing.prices)
        .map(([meter, price]) => `${meter} ${perMillion(price)} USD/1M`)
        .join(', ') || 'free',
  },
];

export const withPrice = (command: Command): Command =>
  command
    .option('--input <usd>', 'of a million tokens in')
    .option('--output <usd>', 'of a million tokens out')
    .option('--cached-input <usd>', 'of a million cached tokens in')
    .option('--meter <meter=usd>', 'of a million of another unit, such as `input_characters=15`; may be repeated', pairs)
    .option('--batch-factor <factor>', 'on all prices in batches, such as 0.5')
    .option('--source <text>', 'the source of the prices');

export const setPrice = (models: Command, perform: Perform): Command =>
  withJson(
    ['id', 'pricing'],
    withPrice(
      models.command('price').description('Set what a model costs from now on; for administrators').argument('<model>', 'its id'),
    ).option('--from <time>', 'when it takes effect: a time, a day, or a duration from now such as 30d; now when left out', moment),
  ).action(perform(price));

async function price(world: CommandWorld, { args: [model = ''], options }: Typed<PriceOptions>): Promise<void> {
  const wanted = priceOf(options, world.now());
  if (!wanted)
    throw new Failure(
      'usage',
      'There is no price.',
      EXIT.usage,
      `\`tallygate models price ${model} --input 0.15 --output 0.60\`, in USD per million; 0 is a price.`,
    );
  const client = await world.connect('session');
  printRecord(world, await client.models.setPrice(model, wanted, { signal: world.signal }), LINES);
}

/** Undefined where no price was named. */
export function priceOf({ input, output, cachedInput, meter, batchFactor, from, source }: PriceOptions, now: Date): PriceInput | undefined {
  const prices = {
    ...(input !== undefined && { input_tokens: input }),
    ...(output !== undefined && { output_tokens: output }),
    ...(cachedInput !== undefined && { cached_input_tokens: cachedInput }),
    ...meter,
  };
  if (Object.keys(prices).length === 0) return undefined;
  return {
    usd_per_million: prices,
    ...(batchFactor !== undefined && { batch_factor: batchFactor }),
    ...(from !== undefined && { effective_from: new Date(timeText(from, now)).toISOString() }),
    ...(source !== undefined && { source }),
  };
}
