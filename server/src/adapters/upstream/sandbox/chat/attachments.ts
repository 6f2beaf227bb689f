import type { ChatCompletionRequest } from '@tallygate/contract';
import { readImageHeader } from '../image-header.ts';
import { type Rejection, rejection } from '../rejection.ts';

type Message = ChatCompletionRequest['messages'][number];
type Part = Exclude<NonNullable<Message['content']>, string>[number];

const DATA_URL = /^data:([^,;]*)(?:;[^,;=]+=[^,;]*)*(;base64)?,/i;
const SIZED = new Set(['image/png', 'image/jpeg', 'image/jpg', 'image/gif', 'image/webp']);

/**
 * Checks every image and sound of the conversation; the first that is broken is the reason to refuse the request.
 * Nothing is ever fetched: a linked image is taken at its word.
 */
export function checkAttachments(messages: readonly Message[]): Rejection | undefined {
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [position, part] of content.entries()) {
      const problem = problemOf(part);
      if (problem)
        return rejection(problem, { param: `messages[${index}].content[${position}].${part.type}`, code: `invalid_${part.type}` });
    }
  }
  return undefined;
}

/** A sentence for each kind of attachment: `I see 2 images (image/png of 3 × 2 pixels, a link that was not followed).` */
export function describeAttachments(content: Message['content']): string[] {
  const parts = Array.isArray(content) ? content : [];
  const sentence = (verb: string, noun: string, of: (part: Part) => string | undefined) => {
    const found = parts.flatMap((part) => of(part) ?? []);
    return found.length > 0 ? [`I ${verb} ${found.length} ${noun}${found.length > 1 ? 's' : ''} (${found.slice(0, 10).join(', ')}).`] : [];
  };
  return [
    ...sentence('see', 'image', (part) => (part.type === 'image_url' ? describeImage(part.image_url.url) : undefined)),
    ...sentence('hear', 'sound', (part) => (part.type === 'input_audio' ? describeSound(part.input_audio) : undefined)),
    ...sentence('have', 'file', (part) => (part.type === 'file' ? describeFile(part.file) : undefined)),
    ...sentence('see', 'video', (part) => (part.type === 'video_url' ? 'a link that was not followed' : undefined)),
  ];
}

function problemOf(part: Part): string | undefined {
  if (part.type === 'image_url') return problemOfImage(part.image_url.url);
  if (part.type === 'input_audio' && decodeBase64(part.input_audio.data) === undefined) return 'Invalid audio: expected base64 in `data`.';
  return undefined;
}

function problemOfImage(url: string): string | undefined {
  if (/^https?:\/\/./i.test(url)) return undefined;
  const [head, mediaType = ''] = DATA_URL.exec(url) ?? [];
  if (head === undefined) return 'Invalid image URL: expected an http(s) URL or a data URL.';
  if (!/^image\/[\w.+-]+$/i.test(mediaType))
    return 'Invalid image data URL: expected an image media type, such as data:image/png;base64,….';
  const bytes = readDataUrl(url);
  if (!bytes) return 'Invalid image data URL: its data is empty or not base64.';
  if (SIZED.has(mediaType.toLowerCase()) && !readImageHeader(bytes))
    return `Invalid image: its bytes are not a readable ${mediaType.slice(0, 20)}.`;
  return undefined;
}

function describeImage(url: string): string {
  const bytes = readDataUrl(url);
  if (!bytes) return 'a link that was not followed';
  const header = readImageHeader(bytes);
  // What the bytes are counts more than what they are called.
  return header
    ? `${header.mediaType} of ${header.widthPixels} × ${header.heightPixels} pixels`
    : (DATA_URL.exec(url)?.[1] ?? 'image').slice(0, 40);
}

const describeSound = ({ data, format }: { data: string; format: string }): string =>
  `${format.slice(0, 20)} of ${decodeBase64(data)?.length ?? 0} bytes`;

function describeFile(file: Readonly<Record<string, unknown>>): string {
  const name = file['filename'] ?? file['file_id'] ?? 'without a name';
  return typeof name === 'string' ? name.slice(0, 80) : 'without a name';
}

/** The bytes of a base64 data URL; undefined for other URLs and broken ones. */
export function readDataUrl(url: string): Buffer | undefined {
  const [head, , base64] = DATA_URL.exec(url) ?? [];
  return head !== undefined && base64 ? decodeBase64(url.slice(head.length)) : undefined;
}

/** Node decodes anything; this refuses what is empty or not base64. */
function decodeBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1 ? Buffer.from(text, 'base64') : undefined;
}
