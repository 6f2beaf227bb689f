import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { checkAnswer, checkRequest } from './contract-check.ts';

/** What a client sent. */
export interface StubRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, or a form as an object of texts; `undefined` without a body. */
  readonly body: unknown;
  /** Whether the client took the whole answer or hung up on it. */
  readonly ended: Promise<'answered' | 'hung up'>;
}

/** What the stub answers with, once. */
export type StubAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly json?: unknown }
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly text: string }
  /** A stream; without `end: true` it stays open until the client hangs up. */
  | { readonly headers?: Readonly<Record<string, string>>; readonly pieces: readonly (string | Uint8Array)[]; readonly end?: boolean }
  /** Accepts the request and never answers. */
  | { readonly silence: true }
  /** Closes the connection instead of an answer. */
  | { readonly reset: true };

/** A gateway that answers from a script and checks both directions against the contract. */
export interface StubGateway {
  readonly baseUrl: string;
  readonly requests: readonly StubRequest[];
  /** Adds answers to the script: one is used per request, in order. */
  script(...answers: readonly StubAnswer[]): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startStubGateway(): Promise<StubGateway> {
  const requests: StubRequest[] = [];
  const answers: StubAnswer[] = [];
  const server = createServer((message, response) => {
    readRequest(message, response)
      .then((request) => {
        requests.push(request);
        const answer = answers.shift() ?? { status: 500, text: `The script has no answer for ${request.method} ${request.path}.` };
        // Where the script refuses the input, the input is meant to be wrong.
        const isMeantToBeWrong = 'status' in answer && answer.status === 422;
        const fault = (isMeantToBeWrong ? undefined : checkRequest(request)) ?? checkAnswer(request, answer);
        // The status exists nowhere else: a test that breaks the contract fails with the reason in its face.
        send(response, fault === undefined ? answer : { status: 418, text: fault });
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The stub has no port.');
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    requests,
    script: (...more) => void answers.push(...more),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRequest(message: IncomingMessage, response: ServerResponse): Promise<StubRequest> {
  const ended = new Promise<'answered' | 'hung up'>((resolve) =>
    response.on('close', () => resolve(response.writableFinished ? 'answered' : 'hung up')),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const url = new URL(message.url ?? '/', 'http://stub');
  return {
    method: message.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: message.headers,
    body: bytes.length === 0 ? undefined : await parseBody(bytes, message.headers['content-type'] ?? ''),
    ended,
  };
}

/** JSON, a CSV text as it is, or a form as an object of its texts and the contents of its files. */
async function parseBody(bytes: Buffer<ArrayBuffer>, type: string): Promise<unknown> {
  if (type === 'text/csv' || type === 'message/rfc822') return bytes.toString();
  if (!type.startsWith('multipart/')) return JSON.parse(bytes.toString());
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
  const fields = [...form].map(async ([name, value]) => [
    name.replace(/\[\]$/, ''),
    typeof value === 'string' ? meant(value) : await value.text(),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}

function send(response: ServerResponse, answer: StubAnswer): void {
  if ('silence' in answer) return;
  if ('reset' in answer) {
    response.destroy();
    return;
  }
  // As on every answer of a gateway.
  response.setHeader('x-request-id', 'req_stub');
  if ('pieces' in answer) {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers });
    response.flushHeaders();
    for (const piece of answer.pieces) response.write(piece);
    if (answer.end) response.end();
    return;
  }
  const status = answer.status ?? 200;
  if ('text' in answer) {
    response.writeHead(status, { 'content-type': 'text/plain', ...answer.headers }).end(answer.text);
    return;
  }
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type, ...answer.headers });
  response.end(answer.json === undefined ? undefined : JSON.stringify(answer.json));
}

/** A form carries numbers, and yes and no, as texts; the service reads them as what they are meant to be. */
function meant(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}
