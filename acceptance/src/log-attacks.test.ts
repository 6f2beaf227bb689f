import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VaasKeySet } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Terminal } from '../../cli/testing/terminal.ts';
import { ask, HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';
import { type CheatingOperator, invented, type LoggedRow, openCheatingOperator } from './testing/cheating-operator.ts';

/** A public client of logs, where there is a Go and the module is in reach. */
const GO = fileURLToPath(new URL('../../packages/receipts/go', import.meta.url));
const hasGo = spawnSync('go', ['version']).status === 0 && spawnSync('go', ['mod', 'download'], { cwd: GO, timeout: 60_000 }).status === 0;

const RECEIPTS = 5;
/** A receipt is in the log by then, or its absence is a fault: later than `log watch --receipts` waits. */
const LATER_MS = 600_000;

const WATCH = ['log', 'watch', '--once', '--receipts'];

const seed = randomBytes(32);
let gateway: Gateway;
let operator: CheatingOperator;
let ids: string[];
let looked: Terminal;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared', env: { LOG_SIGNING_KEY: seed.toString('base64') } });
  ids = [];
  for (let count = 0; count < RECEIPTS; count += 1) {
    const answer = await ask(gateway, gateway.bootstrap.test_api_key, HELLO);
    ids.push(answer.headers.get('x-receipt-id') ?? '');
  }
  const isLogged = async (id: string) => (await (await fetch(`${gateway.url}/v1/receipts/${id}`)).json()).log?.state === 'logged';
  await vi.waitUntil(async () => (await Promise.all(ids.map(isLogged))).every(Boolean), { timeout: 60_000 });
  looked = await firstLook();
  operator = await openCheatingOperator(gateway.databaseUrl, seed);
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await gateway?.remove();
});

const newTerminal = () => new Terminal({ baseUrl: gateway.url }, () => new Date(Date.now() + LATER_MS));
const typing =
  (terminal: Terminal) =>
  (...argv: string[]) =>
    terminal.type(argv, { apiKey: gateway.bootstrap.test_api_key });

/** The files of a customer who has checked the log once. */
async function firstLook(): Promise<Terminal> {
  const terminal = newTerminal();
  const type = typing(terminal);
  await type('receipts', 'keys');
  const look = await type(...WATCH);
  expect(look).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${RECEIPTS} of your receipts found`) });
  return terminal;
}

/** The same customer before each attack, without help from others. */
async function customer() {
  const terminal = newTerminal();
  for (const [path, content] of looked.files) terminal.files.set(path, content);
  const [origin = ''] = (looked.file('default.log-checkpoint') ?? '').split('\n');
  await terminal.logs.replace(origin, undefined, (await looked.logs.read(origin)) ?? '');
  return { terminal, type: typing(terminal) };
}

const month = () => new Date().toISOString().slice(0, 7);
const cheaper = (entry: LoggedRow): LoggedRow => ({ ...entry, payload: entry.payload.replace('"estimated":false', '"estimated":true') });

interface Attack {
  readonly name: string;
  attack(entries: readonly LoggedRow[]): Promise<void>;
  /** What the customer types. */
  readonly command: readonly string[];
  readonly exitCode: number;
  readonly says: string;
}

const ATTACKS: readonly Attack[] = [
  {
    name: 'rewrite: a receipt is altered, and the log signed anew',
    attack: ([first, ...others]) => operator.makeLog([cheaper(first as LoggedRow), ...others]),
    get says() {
      return `two states of ${operator.declared + RECEIPTS} entries`;
    },
    ...{ command: WATCH, exitCode: 7 },
  },
  {
    name: 'delete: a receipt is taken out, and the log signed anew',
    attack: ([, ...others]) => operator.makeLog(others),
    ...{ command: WATCH, exitCode: 7, says: 'does not prove' },
  },
  {
    name: 'insert: a receipt is put in before others, and the log signed anew',
    attack: ([first, ...others]) => operator.makeLog([invented(first as LoggedRow), first as LoggedRow, ...others]),
    ...{ command: WATCH, exitCode: 7, says: 'does not begin with' },
  },
  {
    name: 'roll back: the log is what it was before the last receipts',
    attack: (entries) => operator.makeLog(entries.slice(0, 3)),
    ...{ command: WATCH, exitCode: 7, says: 'does not prove' },
  },
  {
    name: 'fork: the customer’s receipt is shown in another log than the one that they keep',
    attack: ([first, second, ...others]) =>
      operator.makeLog([second as LoggedRow, first as LoggedRow, ...others, invented(first as LoggedRow)]),
    get command() {
      return ['receipts', 'get', ids[0] ?? ''];
    },
    ...{ exitCode: 7, says: 'does not begin with' },
  },
  {
    name: 'SQL without keys: a receipt is altered in the database',
    attack: ([first]) =>
      operator.sql('update receipts set payload = $2, packed = null where receipt_id = $1', [
        first?.receipt_id,
        cheaper(first as LoggedRow).payload,
      ]),
    ...{ command: [...WATCH, '--full'], exitCode: 3, says: 'receipt_not_in_log' },
  },
  {
    name: 'SQL without keys: a digest is altered in the database',
    attack: ([first]) => operator.sql('update receipts set digest = $2 where receipt_id = $1', [first?.receipt_id, randomBytes(32)]),
    ...{ command: ['log', 'audit', '--full', '--entries'], exitCode: 3, says: 'not the one whose hash is in its tree' },
  },
  {
    name: 'SQL without keys: a hash of the log is altered in the database',
    attack: () =>
      operator.sql('update receipt_log_tiles set hashes = overlay(hashes placing $1 from 65) where level = 0 and start = 0', [
        randomBytes(32),
      ]),
    ...{ command: ['log', 'audit', '--full'], exitCode: 3, says: 'not in order' },
  },
  {
    name: 'leave out of the log: a receipt is issued, and never logged',
    attack: async () => {
      const answer = await ask(gateway, gateway.bootstrap.test_api_key, HELLO);
      const receipt = `${gateway.url}/v1/receipts/${answer.headers.get('x-receipt-id')}`;
      await vi.waitUntil(async () => (await fetch(receipt)).ok, { timeout: 60_000 });
    },
    ...{ command: WATCH, exitCode: 3, says: 'is not in the log' },
  },
];

describe.skipIf(!hasGo)('torchwood, an independent implementation,', { timeout: 400_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-follow-'));
  const program = join(folder, 'follow');
  beforeAll(() => {
    const { status, stderr } = spawnSync('go', ['build', '-o', program, './follow'], { cwd: GO, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }, 400_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('follows the log with its entries, and refuses it under another key', async () => {
    const { keys } = VaasKeySet.parse(await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).json());
    const [key = ''] = keys.flatMap((one) => (one.purpose === 'checkpoint' ? one.verifier_key : []));
    // Asynchronous: the gateway may answer from this very process.
    const follow = (verifierKey: string) =>
      new Promise<string>((resolve) => {
        execFile(program, [`${gateway.url}/v1/log`, verifierKey], (error, stdout, stderr) => resolve(error ? stderr : stdout));
      });
    const size = operator.declared + RECEIPTS;
    expect(await follow(key)).toMatch(new RegExp(`^\\S+ ${size} ${size}\n$`));
    expect(await follow(key.replace(/^[^+]+/, 'log.example'))).not.toContain(`${size} ${size}`);
  });
});

describe('a customer alone notices', () => {
  test('leave out of the export: the numbers of the receipts have a gap', async () => {
    const { terminal, type } = await customer();
    await type('receipts', 'export', '--month', month(), '-o', 'all.jsonl');
    const [header = '', first = '', ...lines] = (terminal.files.get('all.jsonl') ?? '').trimEnd().split('\n');
    const end = JSON.parse(lines.pop() ?? '{}');
    expect(JSON.parse(first).object).toBe('receipt');
    const cut = [header, ...lines, JSON.stringify({ ...end, receipts: end.receipts - 1, logged: end.logged - 1 })];
    terminal.files.set('cut.jsonl', `${cut.join('\n')}\n`);
    expect(await type('receipts', 'verify', 'all.jsonl')).toMatchObject({ exitCode: 0 });
    expect(await type('receipts', 'verify', 'cut.jsonl')).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('missing_receipts'),
    });
  });

  test.each(ATTACKS)('$name', async ({ attack, command, exitCode, says }) => {
    const { type } = await customer();
    try {
      await attack(await operator.entries());
      const { stdout, stderr, exitCode: found } = await type(...command);
      expect({ found, said: `${stdout}${stderr}` }).toEqual({ found: exitCode, said: expect.stringContaining(says) });
    } finally {
      await operator.undo();
    }
  });
});
