import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '../../../adapters/postgres/test-database.ts';
import { readConfig } from '../../config.ts';
import { startServer } from '../../server.ts';
import { MovableClock } from './account-api.ts';
import { type ScriptedAnswers, shortAnswers } from './short-answers.ts';

/** A model for each way in which a provider is asked, by the provider’s name. */
export const MODELS = { openai: 'large-openai', chat: 'large-chat', anthropic: 'large-anthropic', google: 'large-google' } as const;
export type Provider = keyof typeof MODELS;
export const PROVIDERS = Object.keys(MODELS) as Provider[];
/** Models of the shipped list for what is no dialogue. */
export const OTHERS = {
  completions: 'gpt-3.5-turbo-instruct',
  images: 'gpt-image-1',
  moderations: 'omni-moderation-latest',
  transcriptions: 'gpt-4o-transcribe',
} as const;
export const RERANKERS = { jina: 'jina-reranker-v2-base-multilingual', cohere: 'rerank-v4.0-fast' } as const;
export const EMBEDDINGS = { openai: 'text-embedding-3-small', google: 'gemini-embedding-001' } as const;

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A gateway and its provider on the thread that is measured. */
export interface LargeGateway {
  readonly provider: ScriptedAnswers;
  ask(path: string, body?: Buffer, contentType?: string): Promise<Answer>;
  /** With a test key: the sandbox is on the thread that is measured too. */
  askSandbox(path: string, body: Buffer): Promise<Answer>;
  /** Nothing of the answer is kept but its end. */
  askForMuch(path: string, body: Buffer): Promise<{ readonly status: number; readonly bytes: number; readonly end: string }>;
  /** Those of the time before are not the subject of the next request. */
  forgetRateLimits(): void;
  close(): Promise<void>;
}

export async function openLargeGateway(): Promise<LargeGateway> {
  const { url: DATABASE_URL, drop } = await testDatabase();
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'tallygate-large-'));
  const provider = shortAnswers();
  await new Promise<void>((resolve) => provider.server.listen(0, '127.0.0.1', resolve));
  const { port } = provider.server.address() as AddressInfo;
  const files = writeFiles(DATA_DIR, `http://127.0.0.1:${port}`);
  const clock = new MovableClock();
  const server = await startServer(
    readConfig({ DATABASE_URL, DATA_DIR, PORT: '0', LOG_LEVEL: 'silent', ...files }),
    () => {},
    clock,
    () => clock.now(),
  );
  const client = new PiecewiseClient(server.url);
  const { admin_email: email, admin_password: password } = server.bootstrap;
  const { session } = JSON.parse((await client.ask('/v1/users/login', Buffer.from(JSON.stringify({ email, password })))).text);
  client.authorization = `Bearer ${session.token}`;
  const { key } = JSON.parse((await client.ask('/v1/keys', Buffer.from('{"name":"large","livemode":true}'))).text);
  client.authorization = `Bearer ${key}`;
  const tester = new PiecewiseClient(server.url);
  tester.authorization = `Bearer ${server.bootstrap.test_api_key}`;
  return {
    provider,
    ask: (path, body, contentType) => client.ask(path, body, contentType),
    askSandbox: (path, body) => tester.ask(path, body),
    askForMuch: (path, body) => client.askForMuch(path, body),
    forgetRateLimits() {
      clock.offsetMs += 60_000;
    },
    async close() {
      await server.close();
      provider.server.close();
      await drop();
      rmSync(DATA_DIR, { recursive: true, force: true });
    },
  };
}

function writeFiles(dataDir: string, upstream: string) {
  const [PROVIDERS_FILE, MODELS_FILE] = [join(dataDir, 'providers.json'), join(dataDir, 'models.json')];
  const providers = [
    { name: 'openai', base_url: `${upstream}/v1`, responses: true, models: [MODELS.openai, EMBEDDINGS.openai, ...Object.values(OTHERS)] },
    { name: 'jina', base_url: `${upstream}/v1`, models: [RERANKERS.jina] },
    { name: 'cohere', kind: 'cohere', base_url: upstream, models: [RERANKERS.cohere] },
    { name: 'chat', base_url: `${upstream}/v1`, models: [MODELS.chat] },
    { name: 'anthropic', kind: 'anthropic', base_url: upstream, models: [MODELS.anthropic] },
    { name: 'google', kind: 'google', base_url: `${upstream}/v1beta`, models: [MODELS.google, EMBEDDINGS.google] },
  ];
  writeFileSync(PROVIDERS_FILE, JSON.stringify({ providers: providers.map((one) => ({ ...one, api_key: 'secret-of-the-provider' })) }));
  const price = { usd_per_million: { input_tokens: '0', output_tokens: '0' }, source: 'this test' };
  // A context that no prompt fills: nothing is refused before the provider is asked.
  const shape = { context_window: 100_000_000, max_output_tokens: 100, image_token_bound: 1_000, capabilities: ['tools', 'vision'], price };
  writeFileSync(MODELS_FILE, JSON.stringify({ models: Object.entries(MODELS).map(([by, id]) => ({ id, provider: by, ...shape })) }));
  return { PROVIDERS_FILE, MODELS_FILE };
}

const PIECE_BYTES = 65_536;
const END_BYTES = 1_000;

/** By node:http and in pieces: the client is on the same thread, and must not be what is measured. */
class PiecewiseClient {
  authorization: string | undefined;
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async ask(path: string, body?: Buffer, contentType?: string): Promise<Answer> {
    const chunks: Buffer[] = [];
    const status = await this.#ask(path, body, (chunk) => chunks.push(chunk), contentType);
    return { status, text: Buffer.concat(chunks).toString('utf8') };
  }

  async askForMuch(path: string, body: Buffer) {
    let bytes = 0;
    let end: Buffer = Buffer.alloc(0);
    const status = await this.#ask(path, body, (chunk) => {
      bytes += chunk.length;
      end = Buffer.concat([end, chunk.subarray(-END_BYTES)]).subarray(-END_BYTES);
    });
    return { status, bytes, end: end.toString('utf8') };
  }

  #ask(path: string, body: Buffer | undefined, take: (chunk: Buffer) => void, contentType = 'application/json'): Promise<number> {
    const { hostname: host, port } = this.#url;
    const content = body && { 'content-type': contentType, 'content-length': body.length };
    const headers = { ...(this.authorization !== undefined && { authorization: this.authorization }), ...content };
    return new Promise((resolve, reject) => {
      const sent = request({ host, port, path, method: body ? 'POST' : 'GET', headers }, (response) => {
        response.on('data', take);
        response.on('error', reject);
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
      const sendFrom = (at: number): void => {
        if (!body || at >= body.length) sent.end();
        else sent.write(body.subarray(at, at + PIECE_BYTES), () => setImmediate(sendFrom, at + PIECE_BYTES));
      };
      sendFrom(0);
    });
  }
}
