import type { ResponseItem, ResponseRequest } from '@tallygate/contract';
import { jsonLength } from '../../../kernel/written-json.ts';
import { unescaped } from '../input-bound.ts';
import type { Requirement } from '../work.ts';
import { inlineCharacters, type Medium, mediaOf, withoutMedia } from './media.ts';

/** The input as items, whichever way it was written. */
export function inputItems({ input }: { readonly input?: ResponseRequest['input'] | null }): ResponseItem[] {
  if (input === undefined || input === null) return [];
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }] : input;
}

/** What a model must be able to do, by the kind of a part. */
const MEDIA_NEEDS: Readonly<Record<Medium['kind'], string>> = { image: 'vision', file: 'pdf', audio: 'audio_input' };

/** What a model must be able to do to serve the request. */
export function responseNeeds(request: ResponseRequest, items: readonly ResponseItem[]): Requirement[] {
  const needs: Requirement[] = [];
  if (request.tools && request.tools.length > 0) needs.push({ capability: 'tools', param: 'tools' });
  if (request.text?.format?.type === 'json_schema') needs.push({ capability: 'json_schema', param: 'text.format' });
  for (const { kind, part, at } of mediaOf(items)) {
    const capability = MEDIA_NEEDS[kind];
    if (part['type'] !== 'compaction' && !needs.some((need) => need.capability === capability)) needs.push({ capability, param: at });
  }
  return needs;
}

export interface InputSize {
  /** Upper bound on text tokens: bytes, with what the template adds. */
  readonly textBytes: number;
  readonly images: number;
  /** Tokens of inline audio. */
  readonly audioTokens: number;
  /** Parts whose tokens nothing in the request bounds. */
  readonly isOpenEnded: boolean;
  readonly hasTools: boolean;
}

const TEMPLATE_TOKENS = 64;
const ITEM_TOKENS = 16;
const TOOL_TOKENS = 32;

/** Bytes of everything that is sent. */
export const sentBytes = (request: ResponseRequest, items: readonly ResponseItem[]): number | Promise<number> =>
  jsonLength({ ...request, models: undefined, provider: undefined, input: items });

interface Sent {
  readonly items: readonly ResponseItem[];
  /** {@link sentBytes} of them. */
  readonly bytes: number;
  /** Of the audio among the items; undefined where nobody has measured it. */
  readonly audioTokens?: number | undefined;
}

/** How large the prompt can be at most: everything that is sent, without inline images and audio, which are counted apart. */
export function inputSize(request: ResponseRequest, { items, bytes, audioTokens }: Sent): InputSize {
  const media = mediaOf(items);
  // Base64 is ASCII: so many characters, so many bytes.
  const inline = media.reduce((sum, medium) => sum + inlineCharacters(medium), 0);
  return {
    textBytes: bytes - inline + templateTokens(request, items),
    images: media.filter(({ kind }) => kind === 'image').length,
    audioTokens: audioTokens ?? 0,
    isOpenEnded: media.some(({ kind }) => kind === 'file' || (kind === 'audio' && audioTokens === undefined)),
    hasTools: (request.tools?.length ?? 0) > 0,
  };
}

/** What the chat template adds: to the whole, to each item, to each tool. */
export const templateTokens = ({ tools }: ResponseRequest, items: readonly ResponseItem[]): number =>
  TEMPLATE_TOKENS + items.length * ITEM_TOKENS + (tools?.length ?? 0) * TOOL_TOKENS;

/** Everything that may become part of the prompt, but for images and audio: what a bound is counted on. */
export const boundText = (request: ResponseRequest, items: readonly ResponseItem[]): string =>
  unescaped({ ...request, models: undefined, provider: undefined, input: items.map(withoutMedia) });

/** The text of the prompt as it is usually understood, for an estimate. */
export const promptText = ({ instructions, tools, text }: ResponseRequest, items: readonly ResponseItem[]): string =>
  unescaped([items.map(withoutMedia), instructions, tools, text]);
