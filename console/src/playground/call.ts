import type { ChatCompletionRequest } from '@tallygate/sdk';
import { withKey } from '../client.ts';

/** What is asked for. The picture is a data URL; tools are as the API takes them. */
export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly isImage: boolean;
  readonly picture?: string;
  readonly tools?: Tools;
  /** The only provider that is asked. */
  readonly provider?: string;
}

type Tools = NonNullable<ChatCompletionRequest['tools']>;

export interface Turn {
  readonly text: string;
  /** Of tools that the model calls: name and arguments as far as they have come. */
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly pictures: readonly string[];
  readonly costUsd?: string;
  readonly requestId?: string;
  readonly maxTokens?: number;
}

const NANO_DIGITS = 9;
const decimalOf = (cost: number): string => cost.toFixed(NANO_DIGITS).replace(/\.?0+$/, '');

/** The request as the API takes it. */
export const bodyOf = (question: Question) => (question.isImage ? { model: question.model, prompt: question.prompt } : chatOf(question));

function chatOf({ model, prompt, picture, tools, provider }: Question) {
  const content =
    picture === undefined
      ? prompt
      : [
          { type: 'text' as const, text: prompt },
          { type: 'image_url' as const, image_url: { url: picture } },
        ];
  return {
    model,
    messages: [{ role: 'user' as const, content }],
    ...(tools && { tools }),
    ...(provider !== undefined && { provider: { only: [provider] } }),
  };
}

/** Asks by the key, and shows what has come with every piece; the last one shows the cost. */
export async function ask(key: string, question: Question, show: (turn: Turn) => void): Promise<void> {
  await (question.isImage ? drawn(key, question, show) : streamed(key, question, show));
}

async function drawn(key: string, { model, prompt }: Question, show: (turn: Turn) => void): Promise<void> {
  const { data, requestId, costUsd } = await withKey(key).images.generate({ model, prompt }).withResponse();
  const pictures = data.data.flatMap(({ b64_json: bytes, url }) => (bytes ? [`data:image/png;base64,${bytes}`] : (url ?? [])));
  show({ text: '', calls: [], pictures, ...(requestId && { requestId }), ...(costUsd !== undefined && { costUsd }) });
}

async function streamed(key: string, question: Question, show: (turn: Turn) => void): Promise<void> {
  const request = { ...chatOf(question), stream: true as const, stream_options: { include_usage: true } };
  const { data, requestId, maxTokens } = await withKey(key).chat.completions.create(request).withResponse();
  let turn: Turn = { text: '', calls: [], pictures: [], ...(requestId && { requestId }), ...(maxTokens !== undefined && { maxTokens }) };
  for await (const chunk of data) {
    const cost = chunk.usage?.cost;
    const delta = chunk.choices[0]?.delta;
    turn = {
      ...turn,
      text: turn.text + (delta?.content ?? ''),
      calls: withPieces(turn.calls, delta?.tool_calls ?? []),
      ...(cost !== undefined && { costUsd: decimalOf(cost) }),
    };
    show(turn);
  }
}

interface CallPiece {
  readonly index: number;
  readonly function?: { readonly name?: string | undefined; readonly arguments?: string | undefined } | undefined;
}

function withPieces(calls: Turn['calls'], pieces: readonly CallPiece[]): Turn['calls'] {
  const all = [...calls];
  for (const { index, function: piece } of pieces) {
    const before = all[index] ?? { name: '', arguments: '' };
    all[index] = { name: before.name + (piece?.name ?? ''), arguments: before.arguments + (piece?.arguments ?? '') };
  }
  return all;
}

/** Reads what was typed as tools. @throws with what is wrong, in words for who typed it */
export function toolsOf(text: string | undefined): Tools | undefined {
  if (text === undefined) return undefined;
  let tools: unknown;
  try {
    tools = JSON.parse(text);
  } catch {
    throw new Error('Tools must be JSON: an array of function tools.');
  }
  if (!Array.isArray(tools) || !tools.every(isFunctionTool))
    throw new Error('Tools must be an array of {"type":"function","function":{"name":…,"parameters":…}}.');
  return tools;
}

const isFunctionTool = (tool: { type?: unknown; function?: { name?: unknown } | undefined } | null): tool is Tools[number] =>
  tool?.type === 'function' && typeof tool.function?.name === 'string';
