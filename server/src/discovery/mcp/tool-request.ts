import { writtenJson } from '../../kernel/written-json.ts';
import type { Operation, Schema } from '../surface.ts';
import type { GatewayRequest } from './gateway-call.ts';
import { argumentParameters, STREAM_FIELDS } from './tool-schemas.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** Arguments that cannot become a request; the message says what to change. Other errors are reported by the API. */
export class UnusableArguments extends Error {}

/** The request of a call of a tool. @throws UnusableArguments */
export async function requestOf(operation: Operation, given: Arguments): Promise<GatewayRequest> {
  const rest = new Map(Object.entries(given));
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let { path } = operation;
  for (const { name, argument, in: place, required, schema } of argumentParameters(operation)) {
    const value = textOf(argument, rest.get(argument), schema);
    rest.delete(argument);
    if (value === undefined && required) throw new UnusableArguments(`\`${argument}\` is required.`);
    if (value === undefined) continue;
    if (place === 'path') path = path.replace(`{${name}}`, pathSegment(argument, value));
    else if (place === 'query') query.set(name, value);
    else headers[name] = headerText(argument, value);
  }
  const target = query.size > 0 ? `${path}?${query}` : path;
  if (!operation.body) {
    requireNothing([...rest.keys()]);
    return { method: operation.method, path: target, headers };
  }
  for (const field of STREAM_FIELDS)
    if (rest.has(field)) throw new UnusableArguments(`\`${field}\` is not taken: a tool is answered once, whole.`);
  const body = await writtenJson(Object.fromEntries(rest));
  return { method: operation.method, path: target, headers: { ...headers, 'content-type': 'application/json' }, body };
}

function requireNothing(left: readonly string[]): void {
  if (left.length > 0) throw new UnusableArguments(`There is no argument ${left.map((name) => `\`${name.slice(0, 100)}\``).join(', ')}.`);
}

/** In a path, a query or a header everything is text, so the API could not distinguish 5 from "5": the type is checked here. */
function textOf(argument: string, value: unknown, { type = 'string' }: Schema): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (type === 'string' && typeof value === 'string') return value;
  if (type === 'boolean' && typeof value === 'boolean') return String(value);
  if (type === 'integer' && Number.isInteger(value)) return String(value);
  throw new UnusableArguments(`\`${argument}\` must be ${TYPES.get(type) ?? 'a string'}, as the tool's input schema says.`);
}

const TYPES = new Map<unknown, string>([
  ['boolean', 'true or false'],
  ['integer', 'a whole number'],
]);

/** `..` would name another operation than the tool's. */
function pathSegment(argument: string, value: string): string {
  if (!value.isWellFormed() || /^\.{0,2}$/.test(value)) throw new UnusableArguments(`\`${argument}\` is no id.`);
  return encodeURIComponent(value);
}

/** RFC 9110, section 5.5: a line break would begin another header. */
function headerText(argument: string, value: string): string {
  if (!/^[\x20-\x7e]*$/.test(value)) throw new UnusableArguments(`\`${argument}\` must be printable ASCII.`);
  return value;
}
