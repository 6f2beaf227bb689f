import * as z from 'zod';
import type { Field, Route } from '../../contract/src/openapi/route.ts';
import { listedBy, type SdkMethod } from '../../contract/src/openapi/sdk-method.ts';
import type { Names } from './schema-names.ts';

/** A method of a resource. */
export interface CallText {
  readonly method: string;
  readonly text: string;
  /** The declaration of its query type, if no other method has it. */
  readonly query: string | undefined;
}

/** What a method takes before the options: as it is declared, and what becomes of it in the operation. */
interface Argument {
  readonly declared: string;
  readonly body?: string;
  readonly query?: string;
}

/** @param queryName the name of its query type, if it has its own */
export function callText(
  route: Route,
  { name: method, singled }: SdkMethod,
  names: Names,
  queryName: (method: string) => string,
): CallText {
  const query = queryOf(route, singled, names, () => queryName(method));
  const given = [...(singled.length > 0 ? singledOut(route, singled, names) : bodyOf(route, names)), ...query.given];
  const declared = [
    ...route.pathParams.map(({ name }) => `${camel(name)}: string`),
    ...given.map((argument) => argument.declared),
    'options?: CallOptions',
  ];
  const { kind, type, item, wrap } = answerOf(route, names);
  const isList = kind === 'pages';
  const operation = [
    ...(isList ? [] : [`method: '${route.method.toUpperCase()}'`]),
    `path: ${pathText(route)}`,
    ...partsOf(
      'body',
      given.flatMap(({ body }) => body ?? []),
    ),
    ...partsOf(
      'query',
      given.flatMap(({ query: part }) => part ?? []),
    ),
    // A repeat of the other methods changes nothing anyway: those take a key where the caller gives one.
    ...(route.isIdempotent && route.method === 'post' ? ['isOnce: true'] : []),
  ].join(', ');
  const idOf = item?.countedBy ? `, ({ ${item.countedBy} }) => ${item.countedBy}` : '';
  const text = [
    docText(route),
    `  ${method}(${declared.join(', ')}): ${wrap}<${[type, ...(isList ? [item?.type] : [])].join(', ')}> {`,
    `    return this.transport.${kind}({ ${operation} }, options${idOf});`,
    '  }\n',
  ].join('\n');
  return { method, text, query: query.declaration };
}

const camel = (name: string): string => name.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());

function singledOut(route: Route, singled: readonly string[], names: Names): Argument[] {
  const fields = route.body instanceof z.ZodObject ? route.body.shape : {};
  return singled.map((name) => {
    const place = fields[name] ? 'body' : 'query';
    const schema = fields[name] ?? route.query.find((field) => field.name === name)?.schema;
    if (!schema) throw new Error(`${route.metadata.operationId} takes no ${name}.`);
    const argument = camel(name);
    return { declared: `${argument}: ${names.typeOf(schema, 'input')}`, [place]: argument === name ? name : `${name}: ${argument}` };
  });
}

function bodyOf({ metadata, body, bodyType, method }: Route, names: Names): Argument[] {
  if (!body || hasNoFields(body)) return [];
  if (bodyType !== 'application/json') throw new Error(`${metadata.operationId} takes ${bodyType}: its method is written by hand.`);
  const type = names.typeOf(body, 'input');
  const mayBeMissing = body.safeParse(undefined).success;
  // What changes something has to say what.
  const mayBeEmpty = method === 'post' && body.safeParse({}).success;
  return [{ declared: mayBeMissing ? `request?: ${type}` : `request: ${type}${mayBeEmpty ? ' = {}' : ''}`, body: '...request' }];
}

/** A body that may be left out and has nothing in it. */
function hasNoFields(body: z.ZodType): boolean {
  const given: unknown = body instanceof z.ZodOptional ? body.unwrap() : body;
  return given instanceof z.ZodObject && Object.keys(given.shape).length === 0;
}

const PAGING = 'cursor,limit';

function queryOf(
  route: Route,
  singled: readonly string[],
  names: Names,
  ownName: () => string,
): { given: Argument[]; declaration: string | undefined } {
  const fields = route.query.filter(({ name }) => !singled.includes(name));
  if (fields.length === 0) return { given: [], declaration: undefined };
  const isNeeded = fields.some(({ schema }) => !schema.safeParse(undefined).success);
  const argument = (type: string) => [{ declared: `query${isNeeded ? '' : '?'}: ${type}`, query: '...query' }];
  if (
    fields
      .map(({ name }) => name)
      .sort()
      .join() === PAGING
  )
    return { given: argument('PageQuery'), declaration: undefined };
  const exported = names.exported(route.querySchema);
  if (exported) names.used.add(exported);
  const name = exported ?? ownName();
  return { given: argument(name), declaration: exported ? undefined : queryText(name, fields, names) };
}

function queryText(name: string, fields: readonly Field[], names: Names): string {
  const members = fields.map((field) => {
    const { description } = z.globalRegistry.get(field.schema) ?? {};
    const doc = description ? `  /** ${description} */\n` : '';
    const isNeeded = !field.schema.safeParse(undefined).success;
    return `${doc}  readonly ${field.name}${isNeeded ? '' : '?'}: ${asSaid(names.typeOf(field.schema, 'input'))}${isNeeded ? '' : ' | undefined'};\n`;
  });
  return `export interface ${name} {\n${members.join('')}}\n`;
}

/** A query says true and false in words; a program does not. */
const asSaid = (type: string): string => (type === "'true' | 'false'" ? 'boolean' : type);

const pathText = ({ path }: Route): string =>
  path.includes('{') ? `\`${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `\${pathStep(${camel(name)})}`)}\`` : `'${path}'`;

function partsOf(name: 'body' | 'query', parts: readonly string[]): string[] {
  if (parts.length === 0) return [];
  return parts.join() === '...request' ? [`${name}: request`] : [`${name}: { ${parts.join(', ')} }`];
}

interface AnswerText {
  readonly kind: 'json' | 'empty' | 'download' | 'pages';
  readonly wrap: 'Call' | 'PagedCall';
  readonly type: string;
  readonly item?: { readonly type: string; readonly countedBy: string | undefined };
}

function answerOf(route: Route, names: Names): AnswerText {
  const { schema, contentType } = route.responses.find(({ status }) => status < 300) ?? {};
  if (!schema) return { kind: 'empty', wrap: 'Call', type: 'undefined' };
  if (!/^application\/(?:\w+\+)?json$/.test(contentType ?? '')) return { kind: 'download', wrap: 'Call', type: 'Response' };
  const type = names.typeOf(schema, 'output');
  const list = listedBy(route);
  if (!list) return { kind: 'json', wrap: 'Call', type };
  const item = { type: names.typeOf(list.item, 'output'), countedBy: list.isCounted ? list.id : undefined };
  return { kind: 'pages', wrap: 'PagedCall', type, item };
}

const docText = ({ summary, description }: Route): string => `  /** ${summary}. ${description.replaceAll('*/', '*\\/')} */`;
