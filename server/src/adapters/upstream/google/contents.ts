import type { ChatCompletionRequest } from '@tallygate/contract';
import { argumentsOf, NONE_READ, type ReadArguments } from '../../../kernel/tool-arguments.ts';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import type { Blob, Content, Part } from './gemini-api.ts';
import { partsOf, textOf } from './parts.ts';
import { signatureIn } from './thought-signature.ts';

type Message = ChatCompletionRequest['messages'][number];

/** Who speaks, in OpenAI's terms as far as they differ for Google: tool results are a turn of their own. */
type Speaker = 'user' | 'model' | 'tools';

interface Turn {
  readonly speaker: Speaker;
  readonly parts: Part[];
}

export interface Conversation {
  readonly contents: readonly Content[];
  readonly systemInstruction?: { readonly parts: readonly Part[] };
}

/**
 * The messages as Google tells a conversation: what system and developer say apart from it, neighbours of one role as one turn, and the
 * results of tools in the order of their calls, directly behind them.
 */
/** @param read arguments of tools that are large */
export function conversationOf(messages: readonly Message[], read = NONE_READ): Conversation {
  const system: Part[] = [];
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  const append = (speaker: Speaker, parts: readonly Part[]): void => {
    const last = turns.at(-1);
    if (last?.speaker === speaker) last.parts.push(...parts);
    else if (parts.length > 0) turns.push({ speaker, parts: [...parts] });
  };
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...partsOf(message.content, `${at}.content`));
        break;
      case 'user':
        append('user', partsOf(message.content, `${at}.content`));
        break;
      case 'assistant':
        for (const call of callsOf(message)) names.set(call.id, call.name);
        append('model', partsOfAssistant(message, `${at}.content`, read));
        break;
      case 'tool':
      case 'function':
        append('tools', [resultPart(message, names, at)]);
        break;
      default:
        message.role satisfies never;
    }
  }
  // Google answers a conversation, not an instruction alone: then that is what is said.
  if (turns.length === 0) return { contents: [{ role: 'user', parts: system.length > 0 ? system : [{ text: ' ' }] }] };
  const contents = turns.map(({ speaker, parts }, at): Content => {
    if (speaker === 'tools') return { role: 'user', parts: inOrderOfCalls(parts, turns[at - 1]) };
    return { role: speaker, parts };
  });
  return { contents, ...(system.length > 0 && { systemInstruction: { parts: system } }) };
}

interface PastCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly signature: string | undefined;
}

/** What the conversation has given to tools. */
export function* argumentsIn(messages: readonly Message[]): Generator<string> {
  for (const message of messages) for (const { arguments: text } of callsOf(message)) yield text;
}

/** Calls of functions, and the one call of OpenAI's form before there were tools. */
function callsOf(message: Message): PastCall[] {
  const calls = (message.tool_calls ?? []).map((call) => ({
    id: call.id,
    name: call.function?.name ?? call.type,
    arguments: call.function?.arguments ?? '',
    signature: signatureIn(call),
  }));
  const { function_call: old } = message;
  const name = isRecord(old) ? textIn(old['name']) : undefined;
  if (!isRecord(old) || name === undefined) return calls;
  return [...calls, { id: name, name, arguments: textIn(old['arguments']) ?? '', signature: undefined }];
}

/** The signature of a text stands on its last part, as it came. */
function partsOfAssistant(message: Message, param: string, read: ReadArguments): Part[] {
  const said = partsOf(message.content, param);
  const signature = signatureIn(message);
  const last = said.at(-1);
  if (signature !== undefined && last) said[said.length - 1] = { ...last, thoughtSignature: signature };
  const calls = callsOf(message).map(({ id, name, arguments: text, signature: seal }): Part => {
    const functionCall = { id, name, args: argsOf(text, read) };
    return seal === undefined ? { functionCall } : { functionCall, thoughtSignature: seal };
  });
  return [...said, ...calls];
}

/** Google wants an object; what the model wrote instead is still told. */
function argsOf(text: string, read: ReadArguments): Json {
  const value = argumentsOf(text, read);
  if (isRecord(value)) return value;
  return text.trim() === '' ? {} : { input: text };
}

/** The text as it came rather than as parsed JSON, which would round the long numbers in it. */
function resultPart(message: Message, names: ReadonlyMap<string, string>, at: string): Part {
  const id = message.role === 'function' ? (message.name ?? '') : (message.tool_call_id ?? '');
  const name = names.get(id);
  if (name === undefined)
    throw new Untranslatable(`${at}.tool_call_id`, `No message before it calls a tool with the id "${id.slice(0, 100)}".`);
  const media = Array.isArray(message.content) ? mediaOf(message.content, `${at}.content`) : [];
  return {
    functionResponse: { id, name, response: { output: textOf(message.content) }, ...(media.length > 0 && { parts: media }) },
  };
}

const mediaOf = (content: unknown, param: string): { inlineData: Blob }[] =>
  recordsIn(content)
    .filter(({ type }) => type !== 'text')
    .flatMap((part, index) => partsOf([part], `${param}[${index}]`))
    .map(({ inlineData }) => {
      if (!inlineData) throw new Untranslatable(param, 'What a tool returns reaches this model by its content: use data URLs.');
      return { inlineData };
    });

/** Where calls of one function run in parallel, older models know them by their order alone. */
function inOrderOfCalls(results: readonly Part[], calling: Turn | undefined): Part[] {
  const order = (calling?.parts ?? []).flatMap(({ functionCall }) => functionCall?.id ?? []);
  const place = ({ functionResponse }: Part): number => {
    const at = order.indexOf(functionResponse?.id ?? '');
    return at < 0 ? order.length : at;
  };
  return [...results].sort((a, b) => place(a) - place(b));
}
