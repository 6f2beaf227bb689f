import { type AnchorAnswer, chatOperation, RefusedRequests, statelessOperations } from '../../../inference/calls/index.ts';
import { callOf, openInference, ScriptedProvider } from '../../../inference/calls/testing/inference.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { Idempotency, IdempotentRequest } from '../../idempotency.ts';
import type { Answer } from '../../idempotency-seal.ts';
import { BodyMemory } from '../body-memory.ts';
import { inferenceRoutes } from '../inference-api.ts';
import { openFrontUnderTest } from './front.ts';

const MOST_BYTES = 3_000_000;
const ROOM_BYTES = 1_073_741_824;
const PATH = '/v1/chat/completions';

/** Answers stored in memory, by scope and key. */
function memoryIdempotency() {
  const kept = new Map<string, { body: Buffer; answer?: Answer }>();
  return {
    isDown: false,
    kept,
    async begin({ scope, key, body }: IdempotentRequest) {
      if (this.isDown) throw new Error('ECONNREFUSED');
      const name = `${scope} ${key}`;
      const known = kept.get(name);
      if (known && !known.body.equals(body)) throw new Problem('idempotency_conflict', 'Used for another request.');
      if (known?.answer) return { kind: 'replay' as const, answer: known.answer };
      if (known) throw new Problem('idempotency_in_progress', 'Still running.', { retryAfterSeconds: 1 });
      kept.set(name, { body });
      return {
        kind: 'run' as const,
        complete: async (answer: Answer) => void (answer.status < 500 ? kept.set(name, { body, answer }) : kept.delete(name)),
        abandon: async () => void kept.delete(name),
      };
    },
    sweep: async () => {},
    close: () => {},
  } satisfies Idempotency & Record<string, unknown>;
}

/** Nothing here sends any. */
const noRecordings = { lengthOf: async () => undefined, close: async () => {} };
/** Nothing here sends one. */
const NO_FORMS = {
  formLimits: { maxBytes: 0, maxFileBytes: 0, maxFiles: 0, maxFields: 0, maxFieldBytes: 0, idleTimeoutMs: 0, timeoutMs: 0 },
  blobs: {
    put: () => Promise.reject(new Error('no forms')),
    get: async () => undefined,
    delete: async () => {},
    async *list() {},
    check: async () => {},
    sweepUnfinished: async () => {},
  },
};

/** The hot path over HTTP, in memory, before a provider that answers as it is told to. Who gives no key calls with a test key. */
export async function openScriptedGateway(
  turns: ConstructorParameters<typeof ScriptedProvider>,
  {
    anchorAnswer = 'unavailable',
    bodyMemory = new BodyMemory(ROOM_BYTES),
  }: { readonly anchorAnswer?: AnchorAnswer; readonly bodyMemory?: BodyMemory } = {},
) {
  const sandbox = new ScriptedProvider(...turns);
  const world = openInference({ sandbox });
  const idempotency = memoryIdempotency();
  const { grant } = callOf({});
  const auth = { isDown: false };
  const front = await openFrontUnderTest(
    (parts) =>
      inferenceRoutes({
        ...parts,
        anchorAnswer,
        sharedLane: undefined,
        operations: [
          chatOperation({
            chats: { save: async () => {} },
            openFile: () => Promise.reject(new Error('no files')),
            recordings: noRecordings,
            storing: { requireOn: async () => {} },
          }),
          ...statelessOperations({ recordings: noRecordings }),
        ],
        idempotency,
        inference: world.deps,
        refusedRequests: new RefusedRequests(world.deps, () => world.deps.clock.now()),
        bodyLimits: { maxBytes: MOST_BYTES, timeoutMs: 2_000 },
        bodyMemory,
        ...NO_FORMS,
        checkSignature: () => null,
      }),
    {
      authenticator: {
        authenticate: ({ headers: { authorization } }) => {
          if (auth.isDown) return Promise.reject(new Error('ECONNREFUSED'));
          if (authorization !== 'Bearer good') throw new Problem('invalid_credentials', 'No.');
          return grant;
        },
        requireInternalSecret: () => {},
        requireStoring: () => undefined,
      },
      clock: world.deps.clock,
    },
  );
  const urlOf = (path: string) => `${front.url}${path}`;
  const url = urlOf(PATH);
  const post = (body: unknown, headers: Record<string, string> = {}, path = PATH) =>
    fetch(urlOf(path), {
      method: 'POST',
      headers: { authorization: 'Bearer good', 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const close = () => {
    front.close();
    world.close();
  };
  return { ...world, sandbox, idempotency, auth, url, post, close };
}
