import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A JSON Schema as the contract's generator writes it (draft 2020-12, the subset that OpenAPI 3.1 uses here). */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly additionalProperties?: boolean | Schema;
}

export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown; readonly summary?: string }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** What an API key must be allowed, and who may call it. */
  readonly scope?: string;
  readonly role?: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
  /** Statements that call it with the SDK, where they follow from the contract. */
  readonly sdkSample?: string;
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, Media>>;
}

interface RawOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Record<string, Media> };
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
  readonly 'x-codeSamples'?: readonly { readonly label: string; readonly source: string }[];
  readonly 'x-required-scope'?: string;
  readonly 'x-required-role'?: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

/** The build runs in the folder of the site. */
const document = JSON.parse(readFileSync(resolve('../../contract/openapi.json'), 'utf8')) as Document;

export const TAGS = document.tags;

/** What a `$ref` of the document stands for. */
export function referred<T>(ref: string): T {
  const [, , kind = '', name = ''] = ref.split('/');
  return document.components[kind]?.[name] as T;
}

export const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : { ...referred<Schema>(schema.$ref), ...described(schema) };

const described = ({ description }: Schema) => (description === undefined ? {} : { description });

/** The name of the record that a reference names: `KeyResponse`. */
export const recordName = (schema: Schema): string | undefined => schema.$ref?.split('/').at(-1);

export const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, raw]) => raw.operationId !== undefined)
    .map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      summary: raw.summary,
      ...(raw.description === undefined ? {} : { description: raw.description }),
      tag: raw.tags[0] ?? '',
      ...(raw['x-codeSamples']?.[0] && { sdkSample: raw['x-codeSamples'][0].source }),
      ...(raw['x-required-scope'] && { scope: raw['x-required-scope'] }),
      ...(raw['x-required-role'] && { role: raw['x-required-role'] }),
      security: raw.security ?? [],
      parameters: (raw.parameters ?? []).map((parameter) => ('$ref' in parameter ? referred<Parameter>(parameter.$ref) : parameter)),
      ...(raw.requestBody === undefined ? {} : { body: { required: raw.requestBody.required === true, content: raw.requestBody.content } }),
      responses: Object.fromEntries(
        Object.entries(raw.responses).map(([status, response]) => [
          status,
          '$ref' in response ? referred<Response>(response.$ref) : response,
        ]),
      ),
    })),
);

export function operationOf(id: string): Operation {
  const found = OPERATIONS.find((operation) => operation.id === id);
  if (!found) throw new Error(`the document has no operation ${id}`);
  return found;
}

/** The address of an operation's page inside the site: `reference/keys/create-key`. */
export const pageOf = ({ tag, id }: Pick<Operation, 'tag' | 'id'>): string => `reference/${kebab(tag)}/${kebab(id)}`;

export const kebab = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();

/** The first example of a body, written or referred to. */
export function exampleOf({ example, examples, schema }: Media): unknown {
  if (example !== undefined) return example;
  const [first] = Object.values(examples ?? {});
  if (first) return first.$ref === undefined ? first.value : referred<{ value: unknown }>(first.$ref).value;
  return schema === undefined ? undefined : resolved(schema).examples?.[0];
}
