import type { ModelDefinition } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ModelFields } from '../generated/fields.ts';
import { listOf, wholeNumber } from '../option-values.ts';
import { showModel } from './models.ts';
import { type PriceOptions, priceOf, withPrice } from './price.ts';

interface Options extends PriceOptions {
  readonly provider?: string;
  readonly providerModel?: string;
  readonly kind?: NonNullable<ModelDefinition['kind']>;
  readonly context?: number;
  readonly maxOutput?: number;
  readonly capabilities?: string[];
  readonly aliases?: string[];
  readonly variants?: string[];
  readonly retired?: string;
}

export const setModel = (models: Command, perform: Perform): Command =>
  withJson(
    ModelFields,
    withPrice(
      models
        .command('set')
        .description('Define a model, and with --input and --output its price; for administrators')
        .argument('<model>', 'its id, as in the field model of requests')
        .option('--provider <name>', 'the provider whose model it is')
        .option('--provider-model <name>', 'its name at the provider, if that is not the id')
        .option('--kind <kind>', 'chat, completion, embedding, rerank, image, moderation, tts, stt or video; chat when left out')
        .option('--context <tokens>', 'the context window', wholeNumber())
        .option('--max-output <tokens>', 'the maximum of output tokens', wholeNumber())
        .option('--capabilities <list>', 'what it can do, such as `tools,json_schema,vision`', listOf)
        .option('--aliases <list>', 'other names', listOf)
        .option('--variants <list>', 'names of its variants, such as `llama3*`', listOf)
        .option('--retired <day>', 'the day from which it is refused'),
    ),
  ).action(perform(set));

async function set(world: CommandWorld, { args: [model = ''], options }: Typed<Options>): Promise<void> {
  const client = await world.connect('session');
  const { provider, providerModel, kind, context, maxOutput, capabilities, aliases, variants, retired } = options;
  const definition: ModelDefinition = {
    ...(provider !== undefined && { provider }),
    ...(providerModel !== undefined && { provider_model: providerModel }),
    ...(kind !== undefined && { kind }),
    ...(context !== undefined && { context_window: context }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(capabilities && { capabilities }),
    ...(aliases && { aliases }),
    ...(variants && { variants }),
    ...(retired !== undefined && { retired }),
  };
  const defined = await client.models.define(model, definition, { signal: world.signal });
  const price = priceOf(options, world.now());
  if (!price) {
    showModel(world, defined);
    return;
  }
  const { pricing } = await client.models.setPrice(model, price, { signal: world.signal });
  showModel(world, { ...defined, pricing });
}
