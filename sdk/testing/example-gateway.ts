import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readDocument } from '@tallygate/contract/read-document';

/** What the document says of an operation. */
export interface Operation {
  readonly method: string;
  readonly path: RegExp;
  /** An example of what it answers, where it answers with JSON. */
  readonly answer: unknown;
  /** Statements that call it with the SDK. */
  readonly sdkSample: string | undefined;
}

/** A gateway that answers every operation of the contract with the contract's own example, and records its requests. */
export interface ExampleGateway extends AsyncDisposable {
  readonly url: string;
  readonly operations: ReadonlyMap<string, Operation>;
  /** Ids of operations, in the order in which they were asked for; `undefined` for what is none. */
  readonly asked: (string | undefined)[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
}
interface RawOperation {
  readonly operationId: string;
  readonly 'x-codeSamples'?: readonly { readonly source: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }>>;
}

export async function startExampleGateway(): Promise<ExampleGateway> {
  const operations = operationsOf(readDocument(readFileSync(new URL('../../contract/openapi.json', import.meta.url), 'utf8')));
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://gateway');
    const fitting = [...operations].filter(([, { method, path }]) => method === request.method && path.test(pathname));
    // Of `/events/admin` and `/events/{slug}`, the one without a parameter is meant.
    const [id, operation] =
      fitting.sort(([, a], [, b]) => a.path.source.split('[^/]').length - b.path.source.split('[^/]').length)[0] ?? [];
    asked.push(id);
    response.setHeader('x-request-id', 'req_example').setHeader('content-type', 'application/json');
    request.resume().once('end', () => response.end(JSON.stringify(operation?.answer ?? {})));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function operationsOf({ paths }: Document): ReadonlyMap<string, Operation> {
  const found = new Map<string, Operation>();
  for (const [path, methods] of Object.entries(paths)) {
    const pattern = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
    for (const [method, { operationId, responses, 'x-codeSamples': samples }] of Object.entries(methods)) {
      const success = Object.entries(responses).find(([status]) => status < '300')?.[1];
      const answer = success?.content?.['application/json']?.example;
      found.set(operationId, { method: method.toUpperCase(), path: new RegExp(`^${pattern}$`), answer, sdkSample: samples?.[0]?.source });
    }
  }
  return found;
}
