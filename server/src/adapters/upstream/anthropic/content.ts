import { dataUrlIn } from '../data-url.ts';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import type { ContentBlock, Source, TextBlock } from './messages-api.ts';

const PDF = 'application/pdf';

/** The content of a message or a tool's result, OpenAI's string or parts. Texts that say nothing are left out: Anthropic refuses them. */
export function contentBlocks(content: unknown): ContentBlock[] {
  if (typeof content === 'string') return textBlocks(content, {});
  return recordsIn(content).flatMap(blocksOfPart);
}

/** As {@link contentBlocks}, where only text can stand. */
export const textsOnly = (content: unknown): TextBlock[] => contentBlocks(content).filter((block) => block.type === 'text');

/** The caller's mark for the prompt cache, in any place. */
export const cacheControlIn = (holder: Json): { cache_control?: Json } =>
  isRecord(holder['cache_control']) ? { cache_control: holder['cache_control'] } : {};

function blocksOfPart(part: Json): ContentBlock[] {
  switch (part['type']) {
    case 'text':
      return textBlocks(part['text'], part);
    case 'refusal':
      return textBlocks(part['refusal'], part);
    case 'image_url':
      return [{ type: 'image', source: imageSource(part['image_url']), ...cacheControlIn(part) }];
    case 'file':
      return [fileBlock(isRecord(part['file']) ? part['file'] : {}, part)];
    default:
      throw new Untranslatable('messages', `This model's provider takes no content of type ${String(part['type'])}.`);
  }
}

const textBlocks = (text: unknown, part: Json): TextBlock[] =>
  typeof text === 'string' && text.trim() !== '' ? [{ type: 'text', text, ...cacheControlIn(part) }] : [];

/** Anthropic looks at an image in one way, so `detail` has no counterpart. */
function imageSource(image: unknown): Source {
  const url = isRecord(image) ? textIn(image['url']) : undefined;
  if (url === undefined) throw new Untranslatable('messages', 'An image needs an https URL or a data URL.');
  return sourceOf(url);
}

function sourceOf(url: string): Source {
  const data = dataUrlIn(url);
  if (!data) return { type: 'url', url };
  return { type: 'base64', media_type: data.mediaType === 'image/jpg' ? 'image/jpeg' : data.mediaType, data: data.base64 };
}

function fileBlock(file: Json, part: Json): ContentBlock {
  const content = textIn(file['file_data']);
  if (content === undefined)
    throw new Untranslatable('messages', 'Files reach this model by their content: send `file_data`, not `file_id`.');
  const data = dataUrlIn(content);
  const title = textIn(file['filename']);
  const common = { ...(title === undefined ? {} : { title }), ...cacheControlIn(part) };
  if (data?.mediaType.startsWith('image/')) return { type: 'image', source: sourceOf(content), ...cacheControlIn(part) };
  if (data?.mediaType.startsWith('text/')) {
    const text = Buffer.from(data.base64, 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...common };
  }
  if (data && data.mediaType !== PDF) throw new Untranslatable('messages', `This model reads PDF, text and images, not ${data.mediaType}.`);
  if (data) return { type: 'document', source: { type: 'base64', media_type: PDF, data: data.base64 }, ...common };
  // Neither is in OpenAI's documents, both are met: the address of a file, and its base64 without a head.
  const source: Source = /^https?:\/\//i.test(content) ? { type: 'url', url: content } : { type: 'base64', media_type: PDF, data: content };
  return { type: 'document', source, ...common };
}
