// Breaks whole services at random and audits them: `npm run faults -- --rounds 300 --seed 7 --only redis-flush,gateway-kill --in single`.
// `--again` plays one round with the seed that the table of an earlier campaign names, as often as `--rounds` says: its faults in the order of `--only`, its kind and where.
// `--only` names faults, `--kind` kinds of rounds (`short`, `long`, `at once`), `--in` ways to run it (alone, workers, single, sentinel, cluster); left out, all of them. `--at-once` says how many services are played on at the same time. It ends in a table, and fails where a cap was overspent, an answer or a bill has no record, or something stays held.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../server/src/adapters/postgres/embedded-postgres.ts';
import { redisServerProgram } from '../../../server/src/adapters/redis/server-program.ts';
import { Gateway } from '../gateway.ts';
import { Draws } from '../random.ts';
import { runCampaign, tableOf } from './campaign.ts';
import { FAULTS } from './faults.ts';
import type { RoundKind } from './round.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    kind: { type: 'string', default: '' },
    in: { type: 'string', default: '' },
    again: { type: 'string' },
    'at-once': { type: 'string', default: '2' },
  },
});
const [rounds, seed] = [Number(values.rounds), Number(values.seed ?? Date.now() % 1_000_000_000)];
const atOnce = Number(values['at-once']);
const listed = (names: string): string[] => names.split(',').filter((name) => name !== '');
const [only, topologies] = [listed(values.only), listed(values.in)];
const again = values.again === undefined ? undefined : Number(values.again);
const KINDS: readonly RoundKind[] = ['short', 'long', 'at once'];
const kinds = listed(values.kind).map((name) => KINDS.find((kind) => kind === name));
if (kinds.includes(undefined)) throw new Error(`--kind: there are ${KINDS.join()}`);
const unknown = only.filter((name) => !FAULTS.some((fault) => fault.name === name));
if (!(rounds > 0 && atOnce > 0) || ![seed, again ?? 0, atOnce].every(Number.isSafeInteger))
  throw new Error('--rounds, --seed, --again and --at-once take whole numbers');
if (unknown.length > 0)
  throw new Error(`--only: no fault is called ${unknown.join()}. There are: ${FAULTS.map(({ name }) => name).join()}`);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const home = mkdtempSync(join(tmpdir(), 'tallygate-faults-postgres-'));
const postgres = await startEmbeddedPostgres({ dir: home, orphanGraceMs: 0 });
let databases = 0;
Gateway.makeDatabase = async () => {
  databases += 1;
  const name = `faults_${databases}`;
  await administer(`create database ${name}`);
  return { url: postgres.url.replace(/[^/]*$/, name), drop: () => administer(`drop database if exists ${name} with (force)`) };
};

say(`seed ${seed}`);
try {
  const redisProgram =
    (await redisServerProgram(process.env['PATH'] ?? '', join(import.meta.dirname, '../../../node_modules/.cache'))) ?? '';
  const { tallies, leftOut } = await runCampaign({
    rounds,
    draws: new Draws(seed),
    only,
    kinds: kinds.filter((kind) => kind !== undefined),
    topologies,
    again,
    atOnce,
    redisProgram,
    say,
  });
  for (const reason of leftOut) say(`left out: ${reason}`);
  say(`\n${tableOf(tallies)}\n\nOverspent and left: nano-USD, the most of a round. Seed ${seed}.`);
  const isBad = tallies.some(({ overspent, lost, left, broken }) => overspent > 0n || lost > 0 || left > 0n || broken > 0);
  process.exitCode = isBad ? 1 : 0;
} finally {
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
