import { isRecord } from '../usage.ts';

type Json = Record<string, unknown>;

/** More text than any model writes: what is longer is not kept. */
const LONGEST = 16 * 1024 * 1024;

/** Puts a streamed chat completion together again, for those that are kept. */
export class CompletionAssembly {
  readonly #choices = new Map<number, Json>();
  #head: Json | undefined;
  #bytes = 0;

  /** @param bytes of the event that the chunk came in */
  add(chunk: Json, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > LONGEST) return;
    this.#head ??= chunk;
    for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'].filter(isRecord) : []) addChoice(this.#choices, choice);
  }

  /** Undefined where it was too long to be kept. */
  completion(usage: unknown): Json | undefined {
    if (this.#bytes > LONGEST || !this.#head) return undefined;
    const { id, created, model, service_tier, system_fingerprint } = this.#head;
    return {
      ...{ id, object: 'chat.completion', created, model },
      ...(service_tier !== undefined && { service_tier }),
      ...(system_fingerprint !== undefined && { system_fingerprint }),
      choices: [...this.#choices.entries()].sort(([a], [b]) => a - b).map(([, choice]) => choice),
      ...(usage !== undefined && { usage }),
    };
  }
}

function addChoice(choices: Map<number, Json>, { index, delta, finish_reason, logprobs }: Json): void {
  const at = typeof index === 'number' ? index : 0;
  const choice = choices.get(at) ?? {
    index: at,
    finish_reason: 'stop',
    logprobs: null,
    message: { role: 'assistant', content: null, refusal: null },
  };
  choices.set(at, choice);
  if (typeof finish_reason === 'string') choice['finish_reason'] = finish_reason;
  if (isRecord(logprobs)) choice['logprobs'] = joinedLogprobs(choice['logprobs'], logprobs);
  if (isRecord(delta) && isRecord(choice['message'])) addDelta(choice['message'], delta);
}

/** Those of the chunk are added to the lists: to copy these with every chunk would cost the square of their number. */
function joinedLogprobs(before: unknown, more: Json): Json {
  const lists: Json = isRecord(before) ? before : {};
  for (const [name, list] of Object.entries(more)) {
    const all: unknown[] = Array.isArray(lists[name]) ? lists[name] : [];
    for (const one of Array.isArray(list) ? list : []) all.push(one);
    lists[name] = all;
  }
  return lists;
}

/** Texts are joined, calls by their index; what else a provider adds takes the place of what it said before. */
function addDelta(message: Json, { tool_calls, role, ...delta }: Json): void {
  if (typeof role === 'string') message['role'] = role;
  for (const [name, value] of Object.entries(delta)) {
    if (typeof value === 'string') message[name] = typeof message[name] === 'string' ? message[name] + value : value;
    else if (value !== null && value !== undefined) message[name] = value;
  }
  if (!Array.isArray(tool_calls)) return;
  const calls: Json[] = Array.isArray(message['tool_calls']) ? message['tool_calls'] : [];
  message['tool_calls'] = calls;
  for (const piece of tool_calls.filter(isRecord)) {
    const { index, ...named } = piece;
    const at = typeof index === 'number' && index >= 0 && index <= calls.length ? index : calls.length;
    const call = calls[at] ?? {};
    calls[at] = joined(call, named);
  }
}

function joined(before: Json, { function: called, ...rest }: Json): Json {
  const earlier = isRecord(before['function']) ? before['function'] : {};
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && value !== undefined));
  if (!isRecord(called)) return { ...before, ...given };
  const args = `${typeof earlier['arguments'] === 'string' ? earlier['arguments'] : ''}${typeof called['arguments'] === 'string' ? called['arguments'] : ''}`;
  return { ...before, ...given, function: { ...earlier, ...called, arguments: args } };
}
