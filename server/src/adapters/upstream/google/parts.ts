import { dataUrlIn } from '../data-url.ts';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import type { Part } from './gemini-api.ts';
import { isKeptAtGoogle } from './kept-files.ts';

const PDF = 'application/pdf';

/** Media types by the end of an address, for files that Google fetches itself. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: PDF,
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
};

/**
 * The content of a message, OpenAI's string or parts, as Google's. Texts without a character are left out.
 *
 * @param param where the content stands in the caller's request
 */
export function partsOf(content: unknown, param: string): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return recordsIn(content).flatMap((part, index) => partOf(part, `${param}[${index}]`));
}

/** As {@link partsOf}, where only text can stand: joined, with a line between the parts. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : recordsIn(content)
        .flatMap((part) => textIn(part['text']) ?? textIn(part['refusal']) ?? [])
        .join('\n');

/** `detail` is left aside: Google looks at all images of a request in one resolution. */
function partOf(part: Json, param: string): Part[] {
  switch (part['type']) {
    case 'text':
      return textParts(part['text']);
    case 'refusal':
      return textParts(part['refusal']);
    case 'image_url':
      return [mediaPart(urlIn(part['image_url']), param, 'image/jpeg')];
    case 'video_url':
      return [mediaPart(urlIn(part['video_url']), param, 'video/mp4')];
    case 'input_audio':
      return [audioPart(part['input_audio'], param)];
    case 'file':
      return [filePart(isRecord(part['file']) ? part['file'] : {}, param)];
    default:
      throw new Untranslatable(param, `This model's provider takes no content of type ${String(part['type'])}.`);
  }
}

const textParts = (text: unknown): Part[] => (typeof text === 'string' && text !== '' ? [{ text }] : []);
const urlIn = (holder: unknown): string => (isRecord(holder) ? (textIn(holder['url']) ?? '') : '');

/**
 * What Google fetches is named a medium of the part's own kind, whatever its address ends in: what was held for an image must not pay for a
 * film or a book.
 */
function mediaPart(url: string, param: string, otherwise: string): Part {
  const data = dataUrlIn(url);
  if (data) return { inlineData: { mimeType: data.mediaType === 'image/jpg' ? 'image/jpeg' : data.mediaType, data: data.base64 } };
  if (!/^https?:\/\//i.test(url)) throw new Untranslatable(param, 'Expected an https URL or a data URL.');
  if (isKeptAtGoogle(url))
    throw new Untranslatable(
      param,
      'Files that are kept at Google are not the caller’s: send the content as a data URL, or another address.',
    );
  const mediaType = mediaTypeOf(url) ?? otherwise;
  const kindOf = (type: string): string => type.slice(0, type.indexOf('/'));
  const isOpenEnded = otherwise === PDF; // A file may be anything; its tokens were held as such.
  return { fileData: { fileUri: url, mimeType: isOpenEnded || kindOf(mediaType) === kindOf(otherwise) ? mediaType : otherwise } };
}

function mediaTypeOf(url: string): string | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  return BY_EXTENSION[/\.([a-z0-9]{3,4})$/i.exec(path)?.[1]?.toLowerCase() ?? ''];
}

function audioPart(audio: unknown, param: string): Part {
  const { data, format }: Json = isRecord(audio) ? audio : {};
  if (typeof data !== 'string' || typeof format !== 'string')
    throw new Untranslatable(param, 'Audio needs `data` in base64 and a `format`.');
  return { inlineData: { mimeType: `audio/${format.toLowerCase()}`, data } };
}

function filePart(file: Json, param: string): Part {
  const content = textIn(file['file_data']);
  if (content === undefined) throw new Untranslatable(param, 'Files reach this model by their content: send `file_data`, not `file_id`.');
  if (/^(data:|https?:\/\/)/i.test(content)) return mediaPart(content, param, PDF);
  // Base64 without a head is in nobody's documents, but met: the name tells what it is.
  return { inlineData: { mimeType: mediaTypeOf(`file:///${textIn(file['filename']) ?? ''}`) ?? PDF, data: content } };
}
