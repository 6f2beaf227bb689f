import type { ChatCompletionChunk, ChatMessage, ChatUsage } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { wholeNumber } from '../option-values.ts';
import { printRecord } from '../print.ts';
import { type RunOptions, runOf, withRun } from './agent-run.ts';
import { costText, promptOf, writeAnswer, writeRemark } from './prompt.ts';

interface Options extends RunOptions {
  readonly model: string;
  readonly system?: string;
  readonly maxTokens?: number;
}

const FIELDS = ['content', 'finish_reason', 'model', 'usage', 'cost_usd', 'receipt_id', 'request_id'];

export const chat = (command: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    withRun(
      command
        .argument('[prompt...]', 'the question; read from stdin when left out')
        .option('-m, --model <id>', 'which model', 'gpt-4o-mini')
        .option('--system <text>', 'instructions before the question')
        .option('--max-tokens <n>', 'maximum of output tokens', wholeNumber()),
    ),
  ).action(perform(ask));

async function ask(world: CommandWorld, { args, options }: Typed<Options>): Promise<void> {
  const { out, err, jsonFields, signal } = world;
  const prompt = await promptOf(world, args, { what: 'question', example: 'tallygate chat "Say hello."' });
  const client = await world.connect();
  const call = client.chat.completions.create(
    {
      model: options.model,
      messages: messagesOf(prompt, options.system),
      max_tokens: options.maxTokens,
      stream: true,
      stream_options: { include_usage: true },
    },
    { signal, ...runOf(options) },
  );
  const { data: stream, receiptId, requestId } = await call.withResponse();
  const answer = await relay(stream, (text) => {
    if (jsonFields === undefined) writeAnswer(world, text);
  });
  const cost = costText(answer.usage?.cost);
  if (jsonFields !== undefined) {
    printRecord(world, { ...answer, cost_usd: cost, receipt_id: receiptId, request_id: requestId }, []);
    return;
  }
  if (!answer.content.endsWith('\n')) out.write('\n');
  if (answer.finish_reason === 'length') err.write('The answer was cut at the token limit.\n');
  writeRemark(world, { cost, receiptId, model: answer.model });
}

interface Answer {
  content: string;
  finish_reason: string | null;
  model: string;
  usage: ChatUsage | null;
}

/** Hands every piece of text on as it comes, and keeps what the end of the answer needs. */
async function relay(stream: AsyncIterable<ChatCompletionChunk>, onText: (text: string) => void): Promise<Answer> {
  const answer: Answer = { content: '', finish_reason: null, model: '', usage: null };
  for await (const { choices, model, usage } of stream) {
    const [choice] = choices;
    const text = choice?.delta.content ?? '';
    answer.content += text;
    answer.finish_reason = choice?.finish_reason ?? answer.finish_reason;
    answer.model = model;
    answer.usage = usage ?? answer.usage;
    if (text !== '') onText(text);
  }
  return answer;
}

const messagesOf = (prompt: string, system: string | undefined): ChatMessage[] => [
  ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
  { role: 'user', content: prompt },
];
