import type { GenerateContentRequest, GoogleContent, GooglePart } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { argumentsText, type WrittenArguments } from '../../../kernel/tool-arguments.ts';
import type { Json } from '../event-data.ts';
import { CallIds } from './call-ids.ts';

type Part = Json & { readonly type: string };

interface Conversation extends Pick<GenerateContentRequest, 'contents' | 'systemInstruction'> {
  /** The name of a function in the chat. */
  readonly chatName: (name: string) => string;
  /** Arguments of functions that are large. */
  readonly written: WrittenArguments;
  /** Whether signatures of thoughts go along: Google's models want them back, and other providers refuse the field. */
  readonly isSigned: boolean;
}

export type Telling = Omit<Conversation, 'contents' | 'systemInstruction'>;

/**
 * Turns as the messages of a chat: what functions gave back becomes messages of their own, in front of what else the turn says; pictures among
 * it stand behind. Thoughts of earlier turns have no place there.
 */
export function chatMessages({ contents, systemInstruction, ...telling }: Conversation): Json[] {
  const ids = new CallIds();
  const system = textOf(systemInstruction?.parts ?? []);
  return [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...contents.flatMap((content, at) => turnOf(content, { ...telling, ids, at: `contents[${at}].parts` })),
  ];
}

/** What the conversation has given to functions, and had back from them. */
export function* valuesOfFunctions({ contents }: Pick<GenerateContentRequest, 'contents'>): Generator<unknown> {
  for (const { parts } of contents)
    for (const { functionCall, functionResponse } of parts ?? []) {
      if (functionCall?.args) yield functionCall.args;
      if (functionResponse?.response) yield functionResponse.response;
    }
}

interface Turn extends Telling {
  readonly ids: CallIds;
  readonly at: string;
}

function turnOf({ role, parts }: GoogleContent, turn: Turn): Json[] {
  const said = (parts ?? []).filter(({ thought }) => thought !== true);
  if (role === 'system') return [{ role: 'system', content: textOf(said) }];
  return role === 'model' ? [modelTurn(said, turn)] : userTurn(said, turn);
}

function modelTurn(parts: readonly GooglePart[], { ids, chatName, written, isSigned }: Turn): Json {
  const calls = parts.flatMap(({ functionCall: call, thoughtSignature }) =>
    call
      ? [
          {
            id: ids.called(call),
            type: 'function',
            function: { name: chatName(call.name), arguments: argumentsText(call.args ?? {}, written) },
            ...(isSigned && signature(thoughtSignature)),
          },
        ]
      : [],
  );
  const text = textOf(parts);
  const sealed = parts.findLast((part) => !part.functionCall && part.thoughtSignature);
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(isSigned && signature(sealed?.thoughtSignature)),
  };
}

const signature = (sealed: string | null | undefined): Json => (sealed ? { extra_content: { google: { thought_signature: sealed } } } : {});

function userTurn(parts: readonly GooglePart[], { ids, written, at }: Turn): Json[] {
  const results: Json[] = [];
  const pictures: Part[] = [];
  const said: Part[] = [];
  for (const [index, part] of parts.entries()) {
    const { functionResponse: result } = part;
    if (!result) {
      said.push(...partsOf(part, `${at}[${index}]`));
      continue;
    }
    results.push({ role: 'tool', tool_call_id: ids.answered(result, `${at}[${index}]`), content: resultText(result.response, written) });
    for (const { inlineData } of result.parts ?? []) pictures.push(...partsOf({ inlineData }, `${at}[${index}]`));
  }
  const content = [...pictures, ...said];
  return content.length === 0 && results.length > 0 ? results : [...results, { role: 'user', content: shortest(content) }];
}

/** One text alone as it is: so it was wrapped, by Google's SDKs too. */
function resultText(response: Readonly<Record<string, unknown>> | null | undefined, written: WrittenArguments): string {
  const [[name, only] = [], ...others] = Object.entries(response ?? {});
  if (others.length === 0 && typeof only === 'string' && (name === 'output' || name === 'result')) return only;
  return argumentsText(response ?? {}, written);
}

/** What of a part a chat takes as content. */
function partsOf({ text, inlineData, fileData }: GooglePart, at: string): Part[] {
  if (inlineData) return [inlinePart(inlineData)];
  if (fileData) return [filePart(fileData, at)];
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [];
}

function inlinePart({ mimeType, data, displayName }: NonNullable<GooglePart['inlineData']>): Part {
  const [, format] = /^audio\/(?:x-)?([a-z0-9]+)/i.exec(mimeType) ?? [];
  if (format !== undefined) return { type: 'input_audio', input_audio: { data, format: format === 'mpeg' ? 'mp3' : format.toLowerCase() } };
  return medium(mimeType, `data:${mimeType};base64,${data}`, displayName);
}

/** @throws Problem `validation_failed` for what the gateway could not say the kind of */
function filePart({ fileUri, mimeType, displayName }: NonNullable<GooglePart['fileData']>, at: string): Part {
  if (!/^https:\/\//i.test(fileUri))
    throw invalidInput([{ loc: ['body', `${at}.fileData.fileUri`], msg: 'must be an https address', type: 'value_error' }]);
  return medium(mimeType ?? '', fileUri, displayName);
}

function medium(mimeType: string, url: string, name: string | null | undefined): Part {
  if (/^video\//i.test(mimeType)) return { type: 'video_url', video_url: { url } };
  if (/^image\//i.test(mimeType)) return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { filename: name ?? 'document.pdf', file_data: url } };
}

const textOf = (parts: readonly GooglePart[]): string =>
  parts.flatMap(({ text, thought }) => (typeof text === 'string' && thought !== true ? [text] : [])).join('');

/** Of text alone a text: not every provider knows parts. */
const shortest = (parts: readonly Part[]): string | readonly Part[] =>
  parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => String(text)).join('\n') : parts;
