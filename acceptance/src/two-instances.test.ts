import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

/** How long a change of a key may take to be in force on every instance. */
const LIMIT_MS = 1_000;
/** The limit on a busy machine; without the notification it takes minutes. */
const BUSY_LIMIT_MS = 20_000;
const ROUNDS = 30;

let gateway: Gateway;
let account: Account;
let second: Awaited<ReturnType<typeof startSecondInstance>>;
beforeAll(async () => {
  gateway = await Gateway.start({ database: 'embedded' });
  account = await Account.signUp(gateway);
  second = await startSecondInstance(gateway.databaseUrl);
});
afterAll(async () => {
  await second?.stop();
  await gateway?.remove();
});

async function startSecondInstance(databaseUrl: string) {
  const program = fileURLToPath(new URL('testing/instance.ts', import.meta.url));
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child: ChildProcess = spawn(process.execPath, ['--conditions=tallygate-source', program], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('The second instance has no output');
  const said = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')]);
  const url = /^listening on (\S+)$/.exec(String(said[0]))?.[1];
  if (url === undefined) throw new Error(`The second instance does not listen: ${said}`);
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** What the second instance says to a key. */
const statusAtSecond = async (key: string) =>
  (await fetch(`${second.url}/v1/users/me`, { headers: { authorization: `Bearer ${key}` } })).status;

/** How long a change took, milliseconds. */
interface Delay {
  /** From asking for the change at the gateway to the first refusal that the second instance has answered: what a person sees. */
  readonly seenMs: number;
  /** From the answer to the change until the last request was sent that the second instance still accepted; 0 when there was none. */
  readonly lateMs: number;
}

/** Asks the second instance without a pause, so that it has the key in memory when the change comes. */
async function delayOf(key: string, change: () => Promise<unknown>): Promise<Delay> {
  expect(await statusAtSecond(key)).toBe(200);
  const askedTick = performance.now();
  let answeredTick = Number.POSITIVE_INFINITY;
  const changed = change().then(() => {
    answeredTick = performance.now();
  });
  let acceptedTick = askedTick;
  for (;;) {
    const sentTick = performance.now();
    const status = await statusAtSecond(key);
    if (status === 401) break;
    expect(status).toBe(200);
    acceptedTick = sentTick;
    expect(acceptedTick - answeredTick).toBeLessThan(BUSY_LIMIT_MS);
  }
  const seenMs = performance.now() - askedTick;
  await changed;
  return { seenMs, lateMs: Math.max(0, acceptedTick - answeredTick) };
}

function report(what: string, delays: readonly Delay[]): void {
  const sorted = (name: keyof Delay) => delays.map((one) => one[name]).sort((a, b) => a - b);
  const median = (name: keyof Delay) => sorted(name)[Math.floor(delays.length / 2)] ?? Number.POSITIVE_INFINITY;
  const [seen, late] = (['seenMs', 'lateMs'] as const).map(
    (name) => `p50 ${median(name).toFixed(1)} ms, max ${sorted(name).at(-1)?.toFixed(1)} ms`,
  );
  process.stdout.write(`${what}, n ${delays.length}: from asking to the refusal ${seen}; accepted after the answer ${late}\n`);
  expect(median('lateMs')).toBeLessThan(LIMIT_MS);
}

test(`a key that is revoked through one process is refused by another within a second, ${ROUNDS} times of ${ROUNDS}`, async () => {
  const delays: Delay[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { key, key_id } = await account.createKey();
    delays.push(await delayOf(key, () => account.revoke(key_id)));
  }
  report('revocation', delays);
});

test(`a secret that is rotated through one process is refused by another within a second, ${ROUNDS} times of ${ROUNDS}`, async () => {
  const delays: Delay[] = [];
  let { key, key_id } = await account.createKey();
  for (let round = 0; round < ROUNDS; round++) {
    const old = key;
    delays.push(
      await delayOf(old, async () => {
        key = (await account.rotate(key_id, 0)).key;
      }),
    );
    expect(await statusAtSecond(key)).toBe(200);
  }
  report('rotation', delays);
});

test('keys that are revoked through one process all at once are all refused by another within a second', async () => {
  const keys = await Promise.all(Array.from({ length: ROUNDS / 2 }, () => account.createKey()));
  report('revocation, all at once', await Promise.all(keys.map(({ key, key_id }) => delayOf(key, () => account.revoke(key_id)))));
});

test('a second gateway on the embedded database of a running one refuses to start', async () => {
  const intruder = await Gateway.start({ env: { DATABASE_URL: gateway.databaseUrl } }).then(
    async (started) => {
      await started.remove();
      return 'it started';
    },
    (failure: unknown) => String(failure),
  );
  expect(intruder).toContain('Another gateway runs on this database');
});
