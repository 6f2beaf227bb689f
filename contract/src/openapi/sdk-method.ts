import * as z from 'zod';
import type { Route } from './route.ts';

/** The method of the SDK that an operation is, as its metadata names it. */
export interface SdkMethod {
  /** The resource: `emails.templates`. */
  readonly path: string;
  readonly name: string;
  /** Fields of the input that are arguments by themselves. */
  readonly singled: readonly string[];
}

/** `users.setRole(role)` is `setRole` of `users`, with the role as an argument by itself. */
export function readSdkMethod({ metadata }: Route): SdkMethod | undefined {
  if (metadata.sdk === undefined) return undefined;
  const [, path, name, fields] = /^(\w+(?:\.\w+)*)\.(\w+)(?:\(([\w, ]+)\))?$/.exec(metadata.sdk) ?? [];
  if (!path || !name) throw new Error(`${metadata.operationId}: "${metadata.sdk}" is no method of a resource.`);
  return { path, name, singled: fields ? fields.split(', ') : [] };
}

/** The parts of a list. */
export interface Listed {
  readonly item: z.ZodType;
  /** The field that identifies items. */
  readonly id: string;
  /** Its pages are counted, so that an item may move from one to the next. */
  readonly isCounted: boolean;
}

/** The operation as a list in pages, which takes one of the parameters that lead to the next page. */
export function listedBy({ responses, query }: Route): Listed | undefined {
  const schema = responses.find(({ status }) => status < 300)?.schema;
  const takes = (name: string) => query.some((field) => field.name === name);
  if (!(schema instanceof z.ZodObject) || !['cursor', 'after', 'offset'].some(takes)) return undefined;
  const list: unknown = schema.shape.data;
  const item: unknown = list instanceof z.ZodArray ? list.element : undefined;
  if (!(item instanceof z.ZodType)) return undefined;
  const fields = item instanceof z.ZodObject ? Object.keys(item.shape) : ['id'];
  const id = fields.find((name) => /^(?:\w+_)?id$/.test(name)) ?? fields.find((name) => name === 'slug') ?? fields[0] ?? 'id';
  return { item, id, isCounted: takes('offset') };
}
