import type { ResponseItem } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { holdsOtherThanPicture } from '../input-bound.ts';
import { isRecord } from '../usage.ts';

type Json = Readonly<Record<string, unknown>>;

/** A part of an item that is no text. */
export interface Medium {
  readonly kind: 'image' | 'audio' | 'file';
  readonly part: Json;
  /** Where it is, `input[0].output`. */
  readonly at: string;
}

const KINDS: Readonly<Record<string, Medium['kind']>> = {
  input_image: 'image',
  image_url: 'image',
  // What code has drawn.
  image: 'image',
  computer_screenshot: 'image',
  // An image of an earlier answer, as base64 or only by its id.
  image_generation_call: 'image',
  input_audio: 'audio',
  input_file: 'file',
  file: 'file',
  input_video: 'file',
  video_url: 'file',
  // What a provider has compacted, only that provider can read.
  compaction: 'file',
};
const TEXTS = new Set(['input_text', 'output_text', 'text', 'refusal', 'summary_text', 'reasoning_text']);
/** What describes a tool, or quotes what a model was shown: never read as a part. */
const NO_PARTS = new Set(['tools', 'arguments', 'action', 'results', 'annotations', 'logprobs']);

/** By the list of items: it is asked for by everyone who has to know what a request costs. */
const known = new WeakMap<readonly ResponseItem[], readonly Medium[]>();

/** Images, audio and files of the items, wherever they are: in messages, in what tools gave back, as screenshots. */
export function mediaOf(items: readonly ResponseItem[]): readonly Medium[] {
  const before = known.get(items);
  if (before) return before;
  const media: Medium[] = [];
  for (const [index, item] of items.entries()) collect(item, `input[${index}]`, media);
  known.set(items, media);
  return media;
}

function collect(value: unknown, at: string, media: Medium[]): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) if (typeof one === 'object') collect(one, `${at}[${index}]`, media);
  } else if (isRecord(value)) {
    const kind = kindOf(value);
    if (kind) media.push({ kind, part: value, at });
    else
      for (const [name, one] of Object.entries(value))
        if (typeof one === 'object' && one !== null && !NO_PARTS.has(name)) collect(one, `${at}.${name}`, media);
  }
}

/** What calls itself an image and is inline as something else may be of any length. */
function kindOf(part: Json): Medium['kind'] | undefined {
  const kind = kindNamed(part);
  return kind === 'image' && holdsOtherThanPicture(addressIn(part)) ? 'file' : kind;
}

/** Chat has it one level below. */
function addressIn({ image_url: image }: Json): string {
  const url = isRecord(image) ? image['url'] : image;
  return typeof url === 'string' ? url : '';
}

function kindNamed(part: Json): Medium['kind'] | undefined {
  const { type } = part;
  if (typeof type === 'string' && Object.hasOwn(KINDS, type)) return KINDS[type];
  if (typeof type === 'string' && TEXTS.has(type)) return undefined;
  if (typeof part['image_url'] === 'string') return 'image';
  return ['file_data', 'file_url', 'file_id'].some((name) => typeof part[name] === 'string') ? 'file' : undefined;
}

/** Inline images and audio, which are no text: characters of base64. */
export function inlineCharacters({ kind, part }: Medium): number {
  if (kind === 'image') {
    const { image_url: url, result } = part;
    const inline = part['type'] === 'image_generation_call' ? result : url;
    if (typeof inline !== 'string') return 0;
    return part['type'] === 'image_generation_call' || inline.startsWith('data:image/') ? inline.length : 0;
  }
  return kind === 'audio' && isRecord(part['input_audio']) && typeof part['input_audio']['data'] === 'string'
    ? part['input_audio']['data'].length
    : 0;
}

/** The audio among the items, as base64. */
export const audioOf = (items: readonly ResponseItem[]): unknown[] =>
  mediaOf(items).flatMap(({ kind, part }) => (kind === 'audio' ? [isRecord(part['input_audio']) && part['input_audio']['data']] : []));

const DETAILS = new Set<unknown>(['auto', 'low', 'high', 'original', null, undefined]);

/**
 * What is held for an image is the most of the details that are known, and a file that only the provider has may be of any length.
 * @throws Problem `validation_failed`
 */
export function checkMedia(media: readonly Medium[]): void {
  for (const { part, at } of media) {
    const wrong = (name: string, msg: string) => invalidInput([{ loc: ['body', ...stepsOf(at), name], msg, type: 'invalid' }]);
    if (!DETAILS.has(part['detail'])) throw wrong('detail', 'must be auto, low, high or original');
    if (typeof part['file_id'] === 'string' && part['file_id'] !== '')
      throw wrong('file_id', 'cannot be read here: send the content as a URL or a data URL');
  }
}

const stepsOf = (at: string): (string | number)[] =>
  [...at.matchAll(/[^.[\]]+/g)].map(([step]) => (/^\d+$/.test(step) ? Number(step) : step));

/** What of an item is text. */
export const withoutMedia = (item: ResponseItem): unknown => textIn(item);

function textIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textIn).filter((one) => one !== undefined);
  if (!isRecord(value)) return value;
  const kind = kindOf(value);
  if (kind === 'image' || kind === 'audio') return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, NO_PARTS.has(name) ? one : textIn(one)]));
}
