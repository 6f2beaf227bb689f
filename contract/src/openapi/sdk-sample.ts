import type { Route } from './route.ts';
import { listedBy, readSdkMethod } from './sdk-method.ts';

/** What the document shows of an operation. */
interface Shown {
  /** The example of its body. */
  readonly body: unknown;
  /** The example of a parameter. */
  parameter(name: string): unknown;
  /** The record that it answers with, or that it lists. */
  readonly record: string | undefined;
}

/** How the operation is called with the SDK: statements behind `const tallygate = new Tallygate();`. */
export function sdkSample(route: Route, shown: Shown): string | undefined {
  const method = readSdkMethod(route);
  if (!method) return undefined;
  const call = `tallygate.${method.path}.${method.name}(${argumentsOf(route, method.singled, shown)
    .map((value) => literal(value))
    .join(', ')})`;
  const name = variableOf(shown.record);
  const list = listedBy(route);
  if (list) return `for await (const ${name} of ${call}) console.log(${name}.${list.id});`;
  const success = route.responses.find(({ status }) => status < 300);
  if (!success?.schema || route.method === 'delete') return `await ${call};`;
  return `const ${success.contentType === 'application/json' ? name : 'response'} = await ${call};`;
}

function argumentsOf(route: Route, singled: readonly string[], { body, parameter }: Shown): unknown[] {
  const fields: Readonly<Record<string, unknown>> = { ...Object(body) };
  const needed = route.query.filter(({ schema }) => !schema.safeParse(undefined).success).map(({ name }) => name);
  const query = needed.filter((name) => !singled.includes(name)).map((name) => [name, parameter(name)]);
  const isBodyNeeded = route.body && singled.length === 0 && !route.body.safeParse(undefined).success;
  return [
    ...route.pathParams.map(({ name }) => parameter(name) ?? `${name.replace(/_id$/, '')}_123`),
    ...singled.map((name) => fields[name] ?? parameter(name)),
    ...(isBodyNeeded ? [body] : []),
    ...(query.length > 0 ? [Object.fromEntries(query)] : []),
  ];
}

/** `KeyResponse` is a `key`, a `MarketingPersonRecord` a `person`. */
function variableOf(record = 'Answer'): string {
  const name = record.replace(/^(?:Marketing|Vibethon|Site)(?=[A-Z])/, '').replace(/(?<=.)(?:Response|Record|Object)(?=s?$)/, '');
  return `${name[0]?.toLowerCase()}${name.slice(1)}`;
}

const WIDTH = 100;

function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return value.includes("'") || value.includes('\n') ? JSON.stringify(value) : `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const inside = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => literal(item, inside))
    : Object.entries(value).map(([name, part]) => `${/^[\w$]+$/.test(name) ? name : `'${name}'`}: ${literal(part, inside)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const room = isList ? '' : ' ';
  const line = parts.length === 0 ? `${open}${close}` : `${open}${room}${parts.join(', ')}${room}${close}`;
  return line.length + indent.length <= WIDTH && !line.includes('\n')
    ? line
    : `${open}\n${parts.map((part) => `${inside}${part},\n`).join('')}${indent}${close}`;
}
