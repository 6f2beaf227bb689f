import type { Moderation } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { wholeNumber } from '../option-values.ts';
import { printList, printRecord } from '../print.ts';
import { promptOf, writeRemark } from './prompt.ts';

interface EmbedOptions {
  readonly model: string;
  readonly dimensions?: number;
}

const EMBED_FIELDS = ['embedding', 'dimensions', 'model', 'usage', 'cost_usd', 'receipt_id', 'request_id'];
const MODERATE_FIELDS = ['flagged', 'categories', 'category_scores', 'category_applied_input_types'];

export const embed = (command: Command, perform: Perform): Command =>
  withJson(
    EMBED_FIELDS,
    command
      .argument('[text...]', 'the text; read from stdin when left out')
      .option('-m, --model <id>', 'which model', 'text-embedding-3-small')
      .option('--dimensions <n>', 'fewer numbers than the model has', wholeNumber()),
  ).action(perform(toVector));

async function toVector(world: CommandWorld, { args, options: { model, dimensions } }: Typed<EmbedOptions>): Promise<void> {
  const input = await promptOf(world, args, { what: 'text', example: 'tallygate embed "A text."' });
  const client = await world.connect();
  const request = { model, input, encoding_format: 'float', ...(dimensions && { dimensions }) } as const;
  const { data, receiptId, requestId, costUsd } = await client.embeddings.create(request, { signal: world.signal }).withResponse();
  const { embedding = [] } = data.data[0] ?? {};
  if (world.jsonFields === undefined) {
    world.out.write(`${JSON.stringify(embedding)}\n`);
    return writeRemark(world, { cost: costUsd, receiptId, model: data.model });
  }
  const beside = { dimensions: embedding.length, cost_usd: costUsd, receipt_id: receiptId, request_id: requestId };
  printRecord(world, { ...data, embedding, ...beside }, []);
}

export const moderate = (command: Command, perform: Perform): Command =>
  withJson(MODERATE_FIELDS, command.argument('[text...]', 'the text; read from stdin when left out')).action(perform(judge));

async function judge(world: CommandWorld, { args }: Typed<object>): Promise<void> {
  const input = await promptOf(world, args, { what: 'text', example: 'tallygate moderate "A text."' });
  const client = await world.connect();
  const { results } = await client.moderations.create({ input }, { signal: world.signal });
  const [result] = results;
  if (world.jsonFields !== undefined) return printRecord(world, result ?? {}, []);
  printList(world, scoresOf(result), [
    { title: 'category', of: ({ name }) => name },
    { title: 'flagged', of: ({ isFlagged }) => (isFlagged ? 'yes' : '') },
    { title: 'score', of: ({ score }) => score.toFixed(4), align: 'right' },
  ]);
}

const scoresOf = (result: Moderation['results'][number] | undefined) =>
  Object.entries(result?.category_scores ?? {})
    .map(([name, score]) => ({ name, score, isFlagged: result?.categories[name] === true }))
    .sort((a, b) => b.score - a.score);
