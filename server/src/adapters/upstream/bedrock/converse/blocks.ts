import { hash } from 'node:crypto';
import type * as Anthropic from '../../anthropic/messages-api.ts';
import { Untranslatable } from '../../fault.ts';
import { isRecord, textIn } from '../../json-value.ts';
import type { Family } from '../model-family.ts';
import type { Block, CachePoint, Message, ResultBlock, TextBlock } from './converse-api.ts';

/** Models of others keep no prompts, and refuse a mark. Only Claude keeps them for an hour where that is asked. */
const KEEPS_PROMPTS: ReadonlySet<Family> = new Set(['claude', 'nova', 'nova-2']);

/** How a conversation is written for one model. */
export class Blocks {
  readonly #family: Family;
  #documents = 0;

  constructor(family: Family) {
    this.#family = family;
  }

  /** @param mark for the prompt cache, on the whole request */
  messages(turns: readonly Anthropic.Turn[], mark: unknown): Message[] {
    const messages = turns.map((turn) => this.#message(turn));
    const last = messages.at(-1);
    const point = this.cachePoint({ cache_control: mark });
    return last && point.length > 0 ? [...messages.slice(0, -1), { ...last, content: [...last.content, ...point] }] : messages;
  }

  #message({ role, content }: Anthropic.Turn): Message {
    const blocks = content.flatMap((block) => [this.#block(block), ...this.cachePoint(block)]);
    const hasDocument = blocks.some((block) => 'document' in block);
    // Converse takes no document alone.
    return { role, content: hasDocument && !blocks.some((block) => 'text' in block) ? [...blocks, SEE_DOCUMENT] : blocks };
  }

  /** A mark for the prompt cache is a block of its own, behind what it marks. */
  cachePoint(holder: object): CachePoint[] {
    const { cache_control: mark }: { cache_control?: unknown } = holder;
    if (!isRecord(mark) || !KEEPS_PROMPTS.has(this.#family)) return [];
    const ttl = this.#family === 'claude' ? textIn(mark['ttl']) : undefined;
    return [{ cachePoint: { type: 'default', ...(ttl !== undefined && { ttl }) } }];
  }

  #block(block: Anthropic.Block): Block {
    switch (block.type) {
      case 'tool_use':
        return { toolUse: { toolUseId: this.#callId(block.id), name: block.name, input: block.input } };
      case 'tool_result':
        return { toolResult: { toolUseId: this.#callId(block.tool_use_id), content: this.#result(block.content) } };
      case 'thinking':
        return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
      case 'redacted_thinking':
        return { reasoningContent: { redactedContent: block.data } };
      default:
        return this.#content(block);
    }
  }

  /** Mistral's models take ids of nine letters and digits alone; others take 64 characters. */
  #callId(id: string): string {
    const isOwn = this.#family === 'mistral' ? /^[a-zA-Z0-9]{9}$/.test(id) : id.length <= LONGEST_ID && id !== '';
    return isOwn ? id : hash('sha256', id, 'hex').slice(0, MISTRAL_ID);
  }

  #result(content: Anthropic.ToolResultBlock['content']): ResultBlock[] {
    const blocks = typeof content === 'string' ? [{ text: content }] : (content ?? []).map((block) => this.#content(block));
    const telling = blocks.filter((block) => !('text' in block) || block.text.trim() !== '');
    return telling.length > 0 ? telling : [NO_RESULT];
  }

  #content(block: Anthropic.ContentBlock): ResultBlock {
    if (block.type === 'text') return { text: block.text };
    const { source } = block;
    if (source.type === 'url')
      throw new Untranslatable('messages', 'Images and documents reach this model by their content: send data URLs, not addresses.');
    if (block.type === 'image')
      return { image: { format: source.media_type.slice(source.media_type.indexOf('/') + 1), source: { bytes: source.data } } };
    this.#documents += 1;
    const isText = source.type === 'text';
    const bytes = isText ? Buffer.from(source.data).toString('base64') : source.data;
    // A neutral name: AWS warns that models read it as an instruction.
    return { document: { format: isText ? 'txt' : 'pdf', name: `Document ${this.#documents}`, source: { bytes } } };
  }
}

const LONGEST_ID = 64;
const MISTRAL_ID = 9;
const SEE_DOCUMENT: TextBlock = { text: 'See the document.' };
const NO_RESULT: TextBlock = { text: '(no output)' };
