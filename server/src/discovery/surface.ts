import * as z from 'zod';

/** The name of the address that the generated document was written with. */
const WRITTEN_FOR = 'http://127.0.0.1:8787';

const Media = z.looseObject({ schema: z.record(z.string(), z.unknown()).optional() });
/** Parts that several operations have, once each, under `components`. */
const Reference = z.object({ $ref: z.string() });
const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()),
});

const Answer = z.object({ content: z.record(z.string(), Media).optional() });

const DescribedOperation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  tags: z.tuple([z.string()]),
  security: z.array(z.record(z.string(), z.unknown())),
  'x-required-scope': z.string().optional(),
  'x-mcp-tool': z.enum(['read', 'write', 'spend', 'destroy']).optional(),
  parameters: z.array(z.union([Reference, Parameter])).default([]),
  requestBody: z.object({ required: z.boolean(), content: z.record(z.string(), Media) }).optional(),
  responses: z.record(z.string(), z.union([Reference, Answer])),
});

const Document = z.object({
  info: z.object({ title: z.string(), version: z.string(), summary: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), DescribedOperation)),
  components: z.object({
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
    parameters: z.record(z.string(), Parameter),
    responses: z.record(z.string(), Answer),
  }),
});

/** JSON Schema 2020-12, as far as it is only passed on. */
export type Schema = Readonly<Record<string, unknown>>;
export type Parameter = z.infer<typeof Parameter>;

/** One operation of the contract. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** `/v1/keys/{key_id}` */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly scope: string | undefined;
  /** What it does as a tool of MCP; `undefined` where it is none. */
  readonly tool: 'read' | 'write' | 'spend' | 'destroy' | undefined;
  /** The authentication methods; empty for public operations. */
  readonly schemes: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body: { readonly type: string; readonly isRequired: boolean; readonly schema: Schema } | undefined;
  /** Of the successful answer; undefined where it has no body. */
  readonly answer: { readonly type: string; readonly schema: Schema } | undefined;
}

/** The contract as its own OpenAPI document describes it: all that discovery and the tools are made from. */
export interface Surface {
  readonly version: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Schema>>;
  /** The document with the addresses of this gateway. */
  openApi(publicUrl: string): string;
}

/** @param text the generated OpenAPI document */
export function readSurface(text: string): Surface {
  const { info, tags, paths, components } = Document.parse(JSON.parse(text));
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operationOf(path, method, described, components)),
  );
  return {
    ...{ version: info.version, summary: info.summary, description: info.description },
    ...{ tags, operations, schemas: components.schemas },
    openApi: (publicUrl) => text.replaceAll(WRITTEN_FOR, JSON.stringify(publicUrl).slice(1, -1)),
  };
}

type Components = z.infer<typeof Document>['components'];

function operationOf(path: string, method: string, described: z.infer<typeof DescribedOperation>, components: Components): Operation {
  const { operationId: id, summary, description, tags, security, requestBody, responses } = described;
  const parameters = described.parameters.map((parameter) => referred(parameter, components.parameters));
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const [answerType, answer] = Object.entries((success && referred(success, components.responses))?.content ?? {})[0] ?? [];
  return {
    ...{ id, method: method.toUpperCase(), path, summary, description, parameters },
    tag: tags[0],
    scope: described['x-required-scope'],
    tool: described['x-mcp-tool'],
    schemes: security.flatMap((alternative) => Object.keys(alternative)),
    body:
      bodyType !== undefined && body?.schema
        ? { type: bodyType, isRequired: requestBody?.required ?? false, schema: body.schema }
        : undefined,
    answer: answerType !== undefined && answer?.schema ? { type: answerType, schema: answer.schema } : undefined,
  };
}

function referred<T extends object>(part: T | z.infer<typeof Reference>, shared: Readonly<Record<string, T>>): T {
  if (!('$ref' in part)) return part;
  const found = shared[part.$ref.split('/').at(-1) ?? ''];
  if (!found) throw new Error(`The document has no ${part.$ref}`);
  return found;
}
