import { isRecord } from '../usage.ts';
import type { Unpriced } from './field-rule.ts';
import { isNone } from './kept-files.ts';
import { isContentName } from './names-of-content.ts';

type Json = Readonly<Record<string, unknown>>;

const WHAT = 'files and content that are kept at the provider or stand outside of the content';
const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** By the type of a content part, the members that are counted with it: of chat completions, and of responses. */
const PART_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: words('text'),
  refusal: words('refusal'),
  image_url: words('image_url detail'),
  input_audio: words('input_audio'),
  file: words('file'),
  video_url: words('video_url detail'),
  input_text: words('text'),
  output_text: words('text'),
  summary_text: words('text'),
  reasoning_text: words('text'),
  input_image: words('image_url file_id detail'),
  computer_screenshot: words('image_url file_id detail'),
  input_file: words('file_id file_data file_url filename detail'),
};
/** Members of parts of every type. They are text at most: `parsed` is what OpenAI's SDKs add to an answer, `uuid` vLLM's name of an image. */
const EVERY_PART = words(
  'type id index cache_control prompt_cache_breakpoint annotations logprobs citations signature uuid parsed phase status',
);
/** What the object in a part of chat completions has. A file or a video is held at the context window, with any content. */
const HELD_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  image_url: words('url detail format media_type mime_type filename name'),
  input_audio: words('data format media_type mime_type filename name'),
};

/** What nearly every message has: names of no content, known without a search for one in them. */
export const PLAIN_MEMBERS: ReadonlySet<string> = words('role content name type id tool_calls tool_call_id status call_id arguments');

/** What of a message or an item no price holds: content beside its content, and a part with the content of another type. */
export function unpricedInMessage(message: Json, param: string): Unpriced | undefined {
  const isPart = message['role'] === undefined && Object.hasOwn(PART_MEMBERS, String(message['type']));
  const beside = isPart ? unpricedInPart(message, param) : contentBeside(message, param);
  if (beside) return beside;
  for (const list of ['content', 'output', 'summary']) {
    const found = unpricedInParts(message[list], `${param}.${list}`);
    if (found) return found;
  }
  return undefined;
}

/** The first message of a chat completion with what no price holds. */
export function unpricedInMessages(messages: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(messages)) return undefined;
  for (const [index, message] of messages.entries()) {
    const found = unpricedInMessage(message, `${param}[${index}]`);
    if (found) return found;
  }
  return undefined;
}

/** Rejected tokens are billed, which are text: nothing else is held. */
export function unpricedPrediction(prediction: unknown, param: string): Unpriced | undefined {
  const content = isRecord(prediction) ? prediction['content'] : undefined;
  if (!Array.isArray(content)) return undefined;
  const other = content.findIndex((part) => !isRecord(part) || part['type'] !== 'text');
  if (other !== -1) return { param: `${param}.content[${other}]`, what: 'predicted output other than text' };
  return unpricedInParts(content, `${param}.content`);
}

/** @param parts a list of content parts, or one */
function unpricedInParts(parts: unknown, param: string): Unpriced | undefined {
  if (isRecord(parts)) return unpricedInPart(parts, param);
  if (!Array.isArray(parts)) return undefined;
  for (const [index, part] of parts.entries()) {
    const found = isRecord(part) ? unpricedInPart(part, `${param}[${index}]`) : undefined;
    if (found) return found;
  }
  return undefined;
}

function contentBeside(holder: Json, param: string): Unpriced | undefined {
  for (const name in holder) {
    if (PLAIN_MEMBERS.has(name)) continue;
    const value = holder[name];
    if (typeof value !== 'boolean' && typeof value !== 'number' && !isNone(value) && isContentName(name))
      return { param: `${param}.${name.slice(0, 40)}`, what: WHAT };
  }
  return undefined;
}

function unpricedInPart(part: Json, param: string): Unpriced | undefined {
  const type = String(part['type']);
  const own = Object.hasOwn(PART_MEMBERS, type) ? PART_MEMBERS[type] : undefined;
  // What has no such type is found by its members, wherever it is.
  if (!own) return undefined;
  for (const name in part)
    if (!isNone(part[name]) && !own.has(name) && !EVERY_PART.has(name))
      return { param: `${param}.${name.slice(0, 40)}`, what: `what is no member of a part of the type "${type}"` };
  const held = part[type];
  if (!isRecord(held)) return undefined;
  const members = HELD_MEMBERS[type];
  for (const name in held) {
    const isOther = members ? !members.has(name) : type === 'video_url' && name === 'file_id';
    if (isOther && !isNone(held[name])) return { param: `${param}.${type}.${name.slice(0, 40)}`, what: `what is no member of \`${type}\`` };
  }
  return undefined;
}
