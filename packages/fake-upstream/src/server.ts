import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answer } from './answer.ts';
import { anthropic } from './anthropic/dialect.ts';
import { azure } from './azure/dialect.ts';
import { bedrock } from './bedrock/dialect.ts';
import { type Bill, billed, billOfUsage, NO_BILL, usageIn } from './bill.ts';
import { cohere } from './cohere/dialect.ts';
import type { Dialect } from './dialect.ts';
import { isFields } from './fields.ts';
import { google } from './google/dialect.ts';
import { openAiEndpoints } from './openai/dialect.ts';
import { readForm } from './openai/form.ts';
import { CHAT, openAi } from './openai.ts';
import { prepared } from './prepared.ts';
import { type FakeRealtime, realtimeOn } from './realtime/realtime.ts';
import type { RecordedRequest } from './recorded-request.ts';
import type { Step } from './step.ts';
import { vertex } from './vertex/dialect.ts';
import type { Progress } from './wire.ts';

/** What to answer a request with; `undefined` is the default answer. */
export type ScriptFunction = (request: RecordedRequest) => Step | undefined;

export interface FakeUpstream {
  /** The base URL, `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /** Everything that arrived, but questions for the models, in order; empty with `record: false`. */
  readonly requests: readonly RecordedRequest[];
  /** Steps are queued, each answers one request; a function answers all of them once the queue is empty. */
  script(...steps: readonly (Step | ScriptFunction)[]): void;
  /** Answers `GET /v1/models` with these from now on. */
  serveModels(...names: readonly string[]): void;
  /** The next request that arrives from now on. */
  nextRequest(): Promise<RecordedRequest>;
  /** Its realtime API, which is no part of `requests` and `script`. */
  readonly realtime: FakeRealtime;
  /** Forgets script and requests. */
  reset(): void;
  /** Stops listening and closes every connection, stalled ones too. */
  close(): Promise<void>;
}

export interface FakeUpstreamOptions {
  /** Default 0: any free port. Always on 127.0.0.1. */
  readonly port?: number;
  /** Default 10. */
  readonly promptTokens?: number;
  /** What an empty script answers; default: eight words. */
  readonly fallback?: Step;
  /**
   * Default true. False is for benches: nothing is recorded or parsed, and an empty script answers bytes prepared once,
   * so `model`, limits and tools of the request have no effect.
   */
  readonly record?: boolean;
}

interface Recording extends RecordedRequest, Progress {
  bytesSent: number;
  aborted: boolean;
  billed: Bill;
}

/** Starts the scripted provider; it listens when this resolves. */
export async function startFakeUpstream(options: FakeUpstreamOptions = {}): Promise<FakeUpstream> {
  const { port = 0, promptTokens = 10, fallback = {}, record = true } = options;
  const requests: RecordedRequest[] = [];
  const queue: Step[] = [];
  const waiting: ((request: RecordedRequest) => void)[] = [];
  const fast = prepared(fallback, promptTokens);
  let decide: ScriptFunction | undefined;
  let models: readonly string[] = ['fake-model'];
  let answers = 0;

  const stepFor = (request: Recording, dialect: Dialect): Step =>
    dialect.refusal(request) ?? queue.shift() ?? decide?.(request) ?? fallback;
  const handle = (incoming: IncomingMessage, response: ServerResponse, rawBody: Buffer): void => {
    if (!record && incoming.url === CHAT && queue.length === 0 && !decide) {
      fast(rawBody, response);
      return;
    }
    // A gateway asks at its start, and now and then: it is not recorded and takes no step of the script.
    if (incoming.method === 'GET' && incoming.url === MODELS) return void listModels(response, models);
    const request = recordingOf(incoming, response, rawBody);
    if (record) requests.push(request);
    for (const arrived of waiting.splice(0)) arrived(request);
    const dialect = DIALECTS.find((one) => one.takes(request)) ?? openAi;
    const step = stepFor(request, dialect);
    const fields = isFields(request.body) ? request.body : Object.fromEntries(request.form?.fields ?? []);
    const said = dialect.answer({ turn: ++answers, path: request.path, request: fields, step, promptTokens });
    const whole = (): Bill => billOfUsage(said.exactUsage?.() ?? usageIn(said.plain()));
    Object.defineProperty(request, 'billed', { get: () => billed(whole(), step, request) });
    answer(response, step, said, request);
  };
  const listening = await listen(port, handle);
  return {
    ...listening,
    requests,
    script: (...steps) => {
      decide = steps.findLast((step) => typeof step === 'function') ?? decide;
      queue.push(...steps.filter((step) => typeof step !== 'function'));
    },
    serveModels: (...names) => {
      models = names;
    },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    reset: () => {
      requests.length = 0;
      queue.length = 0;
      decide = undefined;
      listening.realtime.reset();
    },
  };
}

/** @param handle is called once the whole body has arrived */
async function listen(
  port: number,
  handle: (incoming: IncomingMessage, response: ServerResponse, rawBody: Buffer) => void,
): Promise<Pick<FakeUpstream, 'url' | 'close' | 'realtime'>> {
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => handle(incoming, response, parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)));
  });
  const { realtime, close: closeRealtime } = realtimeOn(server);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The fake provider has no TCP address.');
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
      closeRealtime();
    });
  return { url: `http://127.0.0.1:${address.port}/v1`, close, realtime };
}

const MODELS = '/v1/models';

function listModels(response: ServerResponse, models: readonly string[]): void {
  const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'fake-upstream' }));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }));
}

/** The first that takes a request answers it; OpenAI's takes every one. */
const DIALECTS: readonly Dialect[] = [anthropic, bedrock, vertex, google, azure, cohere, openAiEndpoints, openAi];

function recordingOf(incoming: IncomingMessage, response: ServerResponse, rawBody: Buffer): Recording {
  const { promise: ended, resolve } = Promise.withResolvers<'answered' | 'aborted' | 'cut'>();
  const request: Recording = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    body: parsed(rawBody),
    rawBody,
    form: readForm(incoming.headers['content-type'], rawBody),
    clientPort: incoming.socket.remotePort ?? 0,
    startedAt: Date.now(),
    bytesSent: 0,
    piecesSent: 0,
    leadingPieces: 0,
    hasBegun: false,
    isStream: false,
    aborted: false,
    cut: false,
    billed: NO_BILL,
    ended,
  };
  response.once('close', () => {
    request.aborted = !response.writableFinished && !request.cut;
    resolve(request.aborted ? 'aborted' : request.cut ? 'cut' : 'answered');
  });
  return request;
}

function parsed(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString());
  } catch {
    return undefined;
  }
}
