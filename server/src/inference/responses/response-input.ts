import type { ResponseItem, ResponseRequest } from '@tallygate/contract';
import { isRecord } from '../usage.ts';
import type { Requirement } from '../work.ts';

/** The input as items, whichever way it was written. */
export function inputItems({ input }: { readonly input?: ResponseRequest['input'] | null }): ResponseItem[] {
  if (input === undefined || input === null) return [];
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }] : input;
}

/** Parts of messages and of what tools gave back, with where they stand. */
export function* inputParts(items: readonly ResponseItem[]): Generator<{ readonly part: Record<string, unknown>; readonly at: string }> {
  for (const [index, item] of items.entries()) {
    for (const list of ['content', 'output'] as const) {
      const parts = item[list];
      if (!Array.isArray(parts)) continue;
      for (const [at, part] of parts.entries()) if (isRecord(part)) yield { part, at: `input[${index}].${list}[${at}]` };
    }
  }
}

/** What a model must be able to do, by the type of a part. */
const PART_NEEDS: Readonly<Record<string, string>> = { input_image: 'vision', input_file: 'pdf', input_audio: 'audio_input' };

/** What a model must be able to do to serve the request. */
export function responseNeeds(request: ResponseRequest, items: readonly ResponseItem[]): Requirement[] {
  const needs: Requirement[] = [];
  if (request.tools && request.tools.length > 0) needs.push({ capability: 'tools', param: 'tools' });
  if (request.text?.format?.type === 'json_schema') needs.push({ capability: 'json_schema', param: 'text.format' });
  for (const { part, at } of inputParts(items)) {
    const capability = PART_NEEDS[String(part['type'])];
    if (capability && !needs.some((need) => need.capability === capability)) needs.push({ capability, param: at });
  }
  return needs;
}

export interface InputSize {
  /** Upper bound on text tokens: bytes, with what the template adds. */
  readonly textBytes: number;
  readonly images: number;
  /** Parts whose tokens nothing in the request bounds. */
  readonly isOpenEnded: boolean;
  readonly hasTools: boolean;
}

const TEMPLATE_TOKENS = 64;
const ITEM_TOKENS = 16;
const TOOL_TOKENS = 32;

/** How large the prompt can be at most: what is written, without inline images, which are counted apart. */
export function inputSize(request: ResponseRequest, items: readonly ResponseItem[]): InputSize {
  let images = 0;
  let imageBytes = 0;
  let isOpenEnded = false;
  for (const { part } of inputParts(items)) {
    if (part['type'] === 'input_image') {
      images += 1;
      const url = part['image_url'];
      if (typeof url === 'string' && url.startsWith('data:image/')) imageBytes += Buffer.byteLength(url);
    } else if (part['type'] === 'input_file') isOpenEnded = true;
  }
  const { instructions, tools, text } = request;
  const bytes = Buffer.byteLength(JSON.stringify([items, instructions, tools, text])) - imageBytes;
  return { textBytes: bytes + templateTokens(request, items), images, isOpenEnded, hasTools: (tools?.length ?? 0) > 0 };
}

/** What the chat template adds: to the whole, to each item, to each tool. */
export const templateTokens = ({ tools }: ResponseRequest, items: readonly ResponseItem[]): number =>
  TEMPLATE_TOKENS + items.length * ITEM_TOKENS + (tools?.length ?? 0) * TOOL_TOKENS;

/** What of an item is text. */
export const withoutImages = (item: ResponseItem): ResponseItem => ({
  ...item,
  content: withoutImageParts(item['content']),
  output: withoutImageParts(item['output']),
});

const withoutImageParts = (parts: unknown): unknown =>
  Array.isArray(parts) ? parts.filter((part) => !(isRecord(part) && part['type'] === 'input_image')) : parts;
