import { Gateway, MODELS, type Providers } from './gateway.ts';
import type { Shot } from './http-connection.ts';
import { firstLine, type Stage } from './stage.ts';
import { Tally } from './tally.ts';

export const NAMES = ['direct', 'bare', 'gateway'] as const;
export type Name = (typeof NAMES)[number];

/** What is asked, each at the provider that answers at once. */
export const KINDS = { chat: 'Chat', stream: 'Streamed chat', embeddings: 'Embeddings', responses: 'Responses' } as const;
export type Kind = keyof typeof KINDS;

/** One way to the provider, with the requests it is asked. */
export interface Subject {
  readonly name: Name;
  /** Undefined for `direct`: there is nothing between. */
  readonly pid: number | undefined;
  readonly shots: Readonly<Record<Kind, Shot>>;
  readonly pacedStream: Shot;
  /** Of some megabytes, as fast as it is read. */
  readonly longStream: Shot;
}

export interface Subjects {
  readonly all: readonly Subject[];
  readonly gateway: Gateway;
  /** The key that `all` uses at the gateway is uncapped; this makes the request with another one. */
  shotWith(key: string, kind: Kind): Shot;
}

/** What a paced provider does: events of a stream, and the time between them. */
export const PACE = { tokens: 64, gapMs: 20 } as const;
/** Role, finish, usage and `[DONE]` come on top of the tokens. */
export const EVENTS_PER_STREAM = PACE.tokens + 4;
const LONG_TOKENS = 32_000;

export async function startSubjects(stage: Stage): Promise<Subjects> {
  const [instant, paced, long] = await Promise.all([
    startProvider(stage, 'instant'),
    startProvider(stage, 'paced', { gapMs: PACE.gapMs }),
    startProvider(stage, 'long', { tokens: LONG_TOKENS }),
  ]);
  const providers: Providers = { instant: instant.ready, paced: paced.ready, long: long.ready };
  const bare = await stage.start(
    {
      name: 'bare-proxy',
      script: 'bench/src/bare-proxy.ts',
      args: [providers.instant, providers.paced, providers.long],
      isSubject: true,
    },
    originsOf,
  );
  const gateway = await Gateway.start(stage, providers);
  const { key } = await gateway.newKey();
  const subject = (name: Name, pid: number | undefined, origins: Providers, tally = new Tally()): Subject => {
    const to = { key, tally, origin: origins.instant };
    return {
      name,
      pid,
      shots: {
        chat: shot(to, REQUESTS.chat),
        stream: shot(to, REQUESTS.stream),
        embeddings: shot(to, REQUESTS.embeddings),
        responses: shot(to, REQUESTS.responses),
      },
      pacedStream: shot({ ...to, origin: origins.paced }, streamOf(MODELS.paced, PACE.tokens)),
      longStream: shot({ ...to, origin: origins.long }, streamOf(MODELS.long, LONG_TOKENS)),
    };
  };
  return {
    all: [
      subject('direct', undefined, providers),
      subject('bare', bare.pid, bare.ready),
      subject('gateway', gateway.pid, { instant: gateway.origin, paced: gateway.origin, long: gateway.origin }, gateway.tally),
    ],
    gateway,
    shotWith: (other, kind) => shot({ origin: gateway.origin, key: other, tally: gateway.tally }, REQUESTS[kind]),
  };
}

/** One that answers at once, where it has no gap. */
export function startProvider(stage: Stage, name: keyof Providers, { tokens = PACE.tokens as number, gapMs = 0 } = {}) {
  const args = ['--chunks', String(tokens), '--gap', String(gapMs)];
  return stage.start({ name, script: 'packages/fake-upstream/src/main.ts', args, isSubject: false }, originOf);
}

const PROMPT = 'The quick brown fox jumps over the lazy dog, and nobody has ever asked the dog. '.repeat(12);

interface Request {
  readonly path: string;
  readonly body: object;
}

const SYSTEM = 'You are a concise assistant. Answer in one paragraph.';

const chatOf = (model: string, tokens: number): Request => ({
  path: '/v1/chat/completions',
  body: {
    model,
    messages: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: PROMPT },
    ],
    temperature: 0.2,
    max_tokens: tokens,
  },
});

function streamOf(model: string, tokens: number): Request {
  const { path, body } = chatOf(model, tokens);
  return { path, body: { ...body, stream: true, stream_options: { include_usage: true } } };
}

/** Each with about 1.2 kB of prompt, as a short chat has. */
const REQUESTS: Readonly<Record<Kind, Request>> = {
  chat: chatOf(MODELS.instant, PACE.tokens),
  stream: streamOf(MODELS.instant, PACE.tokens),
  // As OpenAI's own clients ask: the vector comes as base64, 8 kB.
  embeddings: { path: '/v1/embeddings', body: { model: MODELS.embeddings, input: PROMPT, dimensions: 1536, encoding_format: 'base64' } },
  // Not stored: a proxy stores nothing.
  responses: {
    path: '/v1/responses',
    body: { model: MODELS.instant, instructions: SYSTEM, input: PROMPT, max_output_tokens: PACE.tokens, store: false },
  },
};

interface Asked {
  readonly origin: string;
  readonly key: string;
  readonly tally: Tally;
}

/** A plain chat, of the provider that answers at once. */
export const chatShot = (asked: Asked): Shot => shot(asked, REQUESTS.chat);

function shot({ origin, key, tally }: Asked, { path, body }: Request): Shot {
  const json = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(origin).host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Accept: application/json',
    'User-Agent: bench',
    `Content-Length: ${Buffer.byteLength(json)}`,
  ];
  return { origin, bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n${json}`), tally };
}

function originOf(printed: string): string | undefined {
  const line = firstLine(printed) as { url: string } | undefined;
  return line && new URL(line.url).origin;
}

function originsOf(printed: string): Providers | undefined {
  const line = firstLine(printed) as { urls: string[] } | undefined;
  const [instant, paced, long] = line?.urls ?? [];
  return instant !== undefined && paced !== undefined && long !== undefined ? { instant, paced, long } : undefined;
}
