import { Gateway, MODELS, type Providers } from './gateway.ts';
import type { Shot } from './http-connection.ts';
import { firstLine, type Stage } from './stage.ts';
import { Tally } from './tally.ts';

export const NAMES = ['direct', 'bare', 'gateway'] as const;
export type Name = (typeof NAMES)[number];

/** One way to the provider, with the requests it is asked. */
export interface Subject {
  readonly name: Name;
  /** Undefined for `direct`: there is nothing between. */
  readonly pid: number | undefined;
  readonly plain: Shot;
  /** As fast as it comes. */
  readonly stream: Shot;
  readonly pacedStream: Shot;
}

export interface Subjects {
  readonly all: readonly Subject[];
  readonly gateway: Gateway;
  /** The key that `all` uses at the gateway is uncapped; this makes the plain request with another one. */
  plainWith(key: string): Shot;
}

/** What a paced provider does: events of a stream, and the time between them. */
export const PACE = { tokens: 64, gapMs: 20 } as const;
/** Role, finish, usage and `[DONE]` come on top of the tokens. */
export const EVENTS_PER_STREAM = PACE.tokens + 4;

export async function startSubjects(stage: Stage): Promise<Subjects> {
  const provider = (name: string, args: readonly string[]) =>
    stage.start(
      { name, script: 'packages/fake-upstream/src/main.ts', args: ['--chunks', String(PACE.tokens), ...args], isSubject: false },
      originOf,
    );
  const [instant, paced] = await Promise.all([provider('instant', []), provider('paced', ['--gap', String(PACE.gapMs)])]);
  const providers: Providers = { instant: instant.ready, paced: paced.ready };
  const bare = await stage.start(
    { name: 'bare-proxy', script: 'bench/src/bare-proxy.ts', args: [providers.instant, providers.paced], isSubject: true },
    originsOf,
  );
  const gateway = await Gateway.start(stage, providers);
  const { key } = await gateway.newKey();
  const subject = (name: Name, pid: number | undefined, { instant, paced }: Providers, tally = new Tally()): Subject => ({
    name,
    pid,
    plain: shot(instant, key, requestBody(MODELS.instant, false), tally),
    stream: shot(instant, key, requestBody(MODELS.instant, true), tally),
    pacedStream: shot(paced, key, requestBody(MODELS.paced, true), tally),
  });
  return {
    all: [
      subject('direct', undefined, providers),
      subject('bare', bare.pid, bare.ready),
      subject('gateway', gateway.pid, { instant: gateway.origin, paced: gateway.origin }, gateway.tally),
    ],
    gateway,
    plainWith: (other) => shot(gateway.origin, other, requestBody(MODELS.instant, false), gateway.tally),
  };
}

const PROMPT = 'The quick brown fox jumps over the lazy dog, and nobody has ever asked the dog. '.repeat(12);

/** About 1.2 kB, as a short chat is. */
const requestBody = (model: string, stream: boolean): string =>
  JSON.stringify({
    model,
    messages: [
      { role: 'system', content: 'You are a concise assistant. Answer in one paragraph.' },
      { role: 'user', content: PROMPT },
    ],
    temperature: 0.2,
    max_tokens: PACE.tokens,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  });

function shot(origin: string, key: string, body: string, tally: Tally): Shot {
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    `Host: ${new URL(origin).host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Accept: application/json',
    'User-Agent: bench',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return { origin, bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`), tally };
}

function originOf(printed: string): string | undefined {
  const line = firstLine(printed) as { url: string } | undefined;
  return line && new URL(line.url).origin;
}

function originsOf(printed: string): Providers | undefined {
  const line = firstLine(printed) as { urls: string[] } | undefined;
  const [instant, paced] = line?.urls ?? [];
  return instant !== undefined && paced !== undefined ? { instant, paced } : undefined;
}
