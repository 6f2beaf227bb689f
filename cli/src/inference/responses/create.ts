import type { EventStream, ResponseObject, ResponseStreamEvent } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { pairs, wholeNumber } from '../../option-values.ts';
import { printRecord } from '../../print.ts';
import { type RunOptions, runOf, withRun } from '../agent-run.ts';
import { promptOf, writeAnswer, writeRemark } from '../prompt.ts';
import { RESPONSE_FIELDS, shown, showResponse } from './show-response.ts';

interface Options extends RunOptions {
  readonly model: string;
  readonly instructions?: string;
  readonly previous?: string;
  readonly conversation?: string;
  readonly maxTokens?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
  readonly background?: boolean;
  /** False with `--no-store`. */
  readonly store: boolean;
}

export const createResponse = (responses: Command, perform: Perform): Command =>
  withJson(
    [...RESPONSE_FIELDS, 'receipt_id', 'request_id'],
    withRun(
      responses
        .command('create')
        .description('Ask a model; the answer is stored, and can be continued')
        .argument('[prompt...]', 'the question; read from stdin when left out')
        .option('-m, --model <id>', 'which model', 'gpt-4o-mini')
        .option('--instructions <text>', 'instructions before the question')
        .option('--previous <response-id>', 'the response to continue')
        .option('--conversation <conversation-id>', 'the conversation to continue')
        .option('--max-tokens <n>', 'maximum of output tokens, at least 16', wholeNumber(16))
        .option('--metadata <name=value>', 'metadata to store with it; repeatable', pairs)
        .option('--stream', 'stream the answer')
        .option('--background', 'return at once; ask for the answer later')
        .option('--no-store', 'do not store the answer'),
    ),
  ).action(perform(create));

async function create(world: CommandWorld, { args, options }: Typed<Options>): Promise<ExitCode> {
  const input = await promptOf(world, args, { what: 'question', example: 'tallygate responses create "Say hello."' });
  const { model, instructions, previous, conversation, maxTokens, metadata, stream, background, store } = options;
  const client = await world.connect();
  const call = client.responses.create(
    {
      ...{ model, input, instructions, previous_response_id: previous, conversation, max_output_tokens: maxTokens, metadata },
      ...(stream && { stream }),
      ...(background && { background }),
      ...(!store && { store }),
    },
    { signal: world.signal, ...runOf(options) },
  );
  const { data, receiptId, requestId } = await call.withResponse();
  const isPlain = 'output' in data;
  const response = isPlain ? data : await relay(world, data);
  if (world.jsonFields !== undefined) {
    printRecord(world, { ...(await shown(response)), receipt_id: receiptId, request_id: requestId }, []);
    return codeOf(response);
  }
  if (background && isPlain) {
    await showResponse(world, response);
    return EXIT.ok;
  }
  const { output_text: text, cost_usd: cost } = await shown(response);
  if (isPlain) writeAnswer(world, text);
  if (!text.endsWith('\n')) world.out.write('\n');
  if (response.status === 'incomplete') world.err.write('The answer was cut at the token limit.\n');
  world.err.write(store ? `stored as ${response.id}\n` : '');
  writeRemark(world, { cost, receiptId, model: response.model });
  return codeOf(response);
}

const codeOf = ({ status }: ResponseObject): ExitCode => (status === 'failed' ? EXIT.failure : EXIT.ok);

/** Hands every piece of text on as it comes. Resolves to the response of the last event. */
async function relay(world: CommandWorld, events: EventStream<ResponseStreamEvent>): Promise<ResponseObject> {
  let last: ResponseObject | undefined;
  for await (const { type, delta, response } of events) {
    if (type === 'response.output_text.delta' && typeof delta === 'string' && world.jsonFields === undefined) writeAnswer(world, delta);
    if (isResponse(response)) last = response;
  }
  if (!last) throw new Failure('unexpected_response', 'The stream had no events.', EXIT.failure);
  return last;
}

const isResponse = (value: unknown): value is ResponseObject =>
  typeof value === 'object' && value !== null && 'object' in value && value.object === 'response';
