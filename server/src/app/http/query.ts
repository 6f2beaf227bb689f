import * as z from 'zod';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Problem } from '../../kernel/problem.ts';
import type { Exchange } from './exchange.ts';
import type { ServedOperation } from './router.ts';
import { SURFACE_FORMS } from './surfaces/index.ts';
import { queryParamsOf } from './target.ts';
import { validationProblem } from './validation.ts';

/**
 * What no operation takes in its path or query: null characters, which no stored text has and on which PostgreSQL fails, and query parameters
 * that it does not have, which would pass in silence: a filter that filters nothing.
 * @throws Problem `validation_failed`, which names each of them
 */
export function requireInput({ req: { url = '' }, pathname, params, surface }: Exchange, { metadata, query }: ServedOperation): void {
  // As most requests come, the hot path above all.
  const isPlain = url.length === pathname.length && !url.includes('%');
  if (isPlain) return;
  const everywhere = surface && SURFACE_FORMS[surface].query(metadata);
  const schema = (surface && metadata.alsoOn?.[surface]?.query) ?? query;
  const isOfSurface = ([name]: [string, string]): boolean => everywhere !== undefined && Object.hasOwn(everywhere.shape, name);
  const all = schema === 'any' ? [] : [...queryParamsOf(url)];
  const given = all.filter((entry) => !isOfSurface(entry));
  for (const [part, values] of [
    ['path', Object.entries(params)],
    ['query', given],
  ] as const)
    for (const [name, value] of values)
      if (`${name}${value}`.includes('\0'))
        throw invalidInput([{ loc: [part, name.replaceAll('\0', '')], msg: 'must not contain null characters', type: 'value_error' }]);
  const refused = unknownIn(given, schema);
  if (refused) throw refused;
  if (everywhere && all.length > given.length) checked(everywhere, valuesOf(new URLSearchParams(all.filter(isOfSurface))));
}

/**
 * The query of a request, for routes that ts-rest does not read.
 * @throws Problem `validation_failed`
 */
export function queryOf<Schema extends z.ZodType>(exchange: Exchange, schema: Schema): z.infer<Schema> {
  return checked(schema, queryIn(exchange));
}

function checked<Schema extends z.ZodType>(schema: Schema, values: Record<string, unknown>): z.infer<Schema> {
  const parsed = schema.safeParse(values);
  if (!parsed.success) throw validationProblem({ query: parsed.error });
  return parsed.data;
}

/** A name that ends in brackets is a list. Any other that comes twice is one as well, as ts-rest reads it: the schema says whether it may be. */
export const queryIn = ({ req: { url = '' } }: Exchange): Record<string, unknown> => valuesOf(queryParamsOf(url));

function valuesOf(params: URLSearchParams): Record<string, unknown> {
  const given = [...new Set(params.keys())].map((name) => {
    const values = params.getAll(name);
    return [name, name.endsWith('[]') || values.length > 1 ? values : values[0]];
  });
  return Object.fromEntries(given);
}

function unknownIn(query: readonly [string, string][], schema: ServedOperation['query']): Problem | undefined {
  const known: ReadonlySet<string> = new Set(schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
  const unknown = [...new Set(query.map(([name]) => name))].filter((name) => !known.has(name) && !isPattern(name, schema));
  if (unknown.length === 0) return undefined;
  const msg = `is not known: this operation takes ${known.size === 0 ? 'none' : listOf(known)}`;
  return invalidInput(unknown.map((name) => ({ loc: ['query', name.replaceAll('\0', '')], msg, type: 'unrecognized_keys' })));
}

/** `metadata[key]` where the operation takes parameters of this form, which its schema leaves open. */
const isPattern = (name: string, schema: ServedOperation['query']): boolean =>
  schema instanceof z.ZodObject && schema._zod.def.catchall instanceof z.ZodUnknown && /^metadata\[[^\]]*\]$/.test(name);

const listOf = (names: ReadonlySet<string>): string => new Intl.ListFormat('en', { type: 'conjunction' }).format(names);
