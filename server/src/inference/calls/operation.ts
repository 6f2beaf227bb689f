import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { RouteMetadata } from '@tallygate/contract';
import type * as z from 'zod';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import type { Caller } from './call-context.ts';
import { costCheckOf } from './cost-fields/index.ts';
import { withPreference } from './preferred-work.ts';
import { preferenceOf } from './provider-preference.ts';
import type { Work } from './work.ts';

/** A file of a form, whole in the blob store. */
export interface ReceivedFile {
  /** Without brackets. */
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  open(): Readable;
}

/** A request's body as it was read. */
export interface Received {
  /** JSON as it came; empty where the request is a form. */
  readonly bytes: Buffer;
  readonly files: readonly ReceivedFile[];
  /** Of the body as received, hex. */
  sha256(): string;
  /** The values of its path parameters, where it has any. */
  readonly params?: Readonly<Record<string, string | undefined>>;
  /** Of its address. */
  readonly query?: URLSearchParams;
}

/** A body of JSON, hashed once, when it is first asked for. @param sha256 where it is hashed already */
export function receivedJson(bytes: Buffer, sha256?: string): Received {
  let digest = sha256;
  return { bytes, files: [], sha256: () => (digest ??= hash('sha256', bytes, 'hex')) };
}

interface Route {
  readonly path: string;
  readonly metadata: RouteMetadata;
}

/** An endpoint that runs a model: how a request to it becomes {@link Work}. */
export interface Operation extends Route {
  /** What keys are narrowed to: the path, or the one that this is another way to. */
  readonly endpoint: string;
  readonly takes: 'json' | 'form' | 'json_or_form';
  readonly schema: z.ZodType;
  /** Of a form's fields, which are all texts. */
  readonly formSchema: z.ZodType;
  /** @throws Problem where the request asks for what cannot be served or priced */
  workOf(request: unknown, received: Received, caller: Caller): Work | Promise<Work>;
}

interface OperationOf<Schema extends z.ZodType> {
  readonly endpoint?: string;
  readonly takes?: Operation['takes'];
  readonly schema: Schema;
  readonly formSchema?: z.ZodType<z.infer<Schema>> | undefined;
  work(request: z.infer<Schema>, received: Received, caller: Caller): Work | Promise<Work>;
}

/** What a request prefers is no part of the prompt, and adds nothing to what is held. */
const withoutPreference = (request: unknown, received: Received): Soon<Received> =>
  received.bytes.length === 0
    ? received
    : andThen(writtenJson({ ...Object(request), provider: undefined }), (bytes): Received => ({ ...received, bytes }));

/** Ties a route to its schema, its work and the cost of its fields; behind it all operations have one type. */
export function operation<Schema extends z.ZodType>(
  { path, metadata }: { readonly path: string; readonly metadata: RouteMetadata },
  { endpoint = path, takes = 'json', schema, formSchema, work }: OperationOf<Schema>,
): Operation {
  const checkCost = costCheckOf(path);
  return {
    path,
    endpoint,
    metadata,
    takes,
    schema,
    formSchema: formSchema ?? schema,
    workOf(request, received, caller) {
      checkCost(request);
      // What is handed in has been parsed with this very schema.
      const make = (read: Received) => work(request as z.infer<Schema>, read, caller);
      const preference = preferenceOf(request);
      if (!preference) return make(received);
      return andThen(andThen(withoutPreference(request, received), make), (made) => withPreference(made, preference));
    },
  };
}
