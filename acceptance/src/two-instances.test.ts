import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { postmasterOf } from './books.ts';
import { Gateway } from './gateway.ts';

/** How long a change of a key may take to be in force on every instance. */
const LIMIT_MS = 1_000;
const ROUNDS = 50;

let gateway: Gateway;
let account: Account;
let second: Awaited<ReturnType<typeof startSecondInstance>>;
beforeAll(async () => {
  gateway = await Gateway.start();
  account = await Account.signUp(gateway);
  second = await startSecondInstance(databaseUrlOf(gateway));
});
afterAll(async () => {
  await second?.stop();
  await gateway?.remove();
});

function databaseUrlOf(of: Gateway): string {
  const password = readFileSync(join(of.dataDir, 'postgres/cluster/password'), 'utf8');
  return `postgresql://tallygate:${password}@127.0.0.1:${postmasterOf(of).port}/postgres`;
}

async function startSecondInstance(databaseUrl: string) {
  const program = fileURLToPath(new URL('instance-under-test.ts', import.meta.url));
  const { PATH, HOME } = process.env;
  const child: ChildProcess = spawn(process.execPath, ['--conditions=tallygate-source', program], {
    env: { PATH, HOME, DATABASE_URL: databaseUrl },
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

/**
 * The time from the moment at which the change is asked for at the gateway to the first refusal that the second instance has answered,
 * milliseconds. It asks without a pause, so the instance has the key in memory when the change comes.
 */
async function timeToRefusal(key: string, change: () => Promise<unknown>): Promise<number> {
  expect(await statusAtSecond(key)).toBe(200);
  const startedTick = performance.now();
  const changed = change();
  let status = 200;
  while (status === 200 && performance.now() - startedTick < 10 * LIMIT_MS) status = await statusAtSecond(key);
  const tookMs = performance.now() - startedTick;
  await changed;
  expect(status).toBe(401);
  return tookMs;
}

function report(what: string, timesMs: readonly number[]): void {
  const sorted = timesMs.toSorted((a, b) => a - b);
  const [median = Number.NaN, max = Number.NaN] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  process.stdout.write(
    `${what}, until another process refuses: p50 ${median.toFixed(1)} ms, max ${max.toFixed(1)} ms, n ${sorted.length}\n`,
  );
  expect(max).toBeLessThan(LIMIT_MS);
}

test(`a key that is revoked through one process is refused by another within a second, ${ROUNDS} times of ${ROUNDS}`, async () => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { key, key_id } = await account.createKey();
    times.push(await timeToRefusal(key, () => account.revoke(key_id)));
  }
  report('revocation', times);
});

test(`a secret that is rotated through one process is refused by another within a second, ${ROUNDS} times of ${ROUNDS}`, async () => {
  const times: number[] = [];
  let { key, key_id } = await account.createKey();
  for (let round = 0; round < ROUNDS; round++) {
    const old = key;
    times.push(
      await timeToRefusal(old, async () => {
        key = (await account.rotate(key_id, 0)).key;
      }),
    );
    expect(await statusAtSecond(key)).toBe(200);
  }
  report('rotation', times);
});

test('keys that are revoked through one process all at once are all refused by another within a second', async () => {
  const keys = await Promise.all(Array.from({ length: ROUNDS / 2 }, () => account.createKey()));
  report('revocation, all at once', await Promise.all(keys.map(({ key, key_id }) => timeToRefusal(key, () => account.revoke(key_id)))));
});

test('a second gateway on the embedded database of a running one refuses to start', async () => {
  const intruder = await Gateway.start({ env: { DATABASE_URL: databaseUrlOf(gateway) } }).then(
    async (started) => {
      await started.remove();
      return 'it started';
    },
    (failure: unknown) => String(failure),
  );
  expect(intruder).toContain('Another gateway runs on this database');
});
