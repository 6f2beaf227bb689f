import { eventsOf } from '../event-frames.ts';
import { dataOf, jsonOf } from '../sse-filter.ts';
import { isRecord } from '../usage.ts';

type Json = Record<string, unknown>;

/** More text than any model writes: what is longer is not kept. */
const LONGEST = 16 * 1024 * 1024;

/** Puts a streamed chat completion together again, for those that are kept. Looks at the events only at the end, all of them at once. */
export class CompletionAssembly {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  add(events: Buffer): void {
    this.#bytes += events.length;
    if (this.#bytes <= LONGEST && events.length > 0) this.#parts.push(events);
  }

  /** Undefined where it was too long to be kept. */
  completion(usage: unknown): Json | undefined {
    if (this.#bytes > LONGEST) return undefined;
    let head: Json | undefined;
    const choices = new Map<number, Json>();
    for (const event of eventsOf(Buffer.concat(this.#parts))) {
      const chunk = jsonOf(dataOf(event.toString('utf8')));
      if (!chunk) continue;
      head ??= chunk;
      for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'].filter(isRecord) : []) addChoice(choices, choice);
    }
    if (!head) return undefined;
    const { id, created, model, service_tier, system_fingerprint } = head;
    return {
      ...{ id, object: 'chat.completion', created, model },
      ...(service_tier !== undefined && { service_tier }),
      ...(system_fingerprint !== undefined && { system_fingerprint }),
      choices: [...choices.entries()].sort(([a], [b]) => a - b).map(([, choice]) => choice),
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

const joinedLogprobs = (before: unknown, more: Json): Json => {
  const lists = isRecord(before) ? before : {};
  return Object.fromEntries(
    Object.entries({ ...lists, ...more }).map(([name]) => [
      name,
      [lists[name], more[name]].flatMap((list) => (Array.isArray(list) ? list : [])),
    ]),
  );
};

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
