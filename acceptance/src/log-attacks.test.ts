import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { VaasKeySet } from '@tallygate/contract';
import { canonicalJson } from '@tallygate/receipts';
import { KeysContradictedError, memoryLogStore, Tallygate, WitnessesUndeclaredError, webLogStore } from '@tallygate/sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Terminal } from '../../cli/testing/terminal.ts';
import { keySet, readVector } from '../../cli/testing/vectors.ts';
import { hasGo } from '../../packages/receipts/scripts/other-languages.ts';
import { newSigningSeed, signingKeyFromSeed } from '../../server/src/receipts/signing-keys.ts';
import { ask, HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';
import { attacksOfPage } from './testing/attacks-page.ts';
import { type CheatingOperator, invented, type LoggedRow, openCheatingOperator } from './testing/cheating-operator.ts';
import { showOtherWitnesses } from './testing/split-view.ts';

/** A public client of logs, where there is a Go and the module is in reach. */
const GO = fileURLToPath(new URL('../../packages/receipts/go', import.meta.url));
const canBuild = hasGo() && spawnSync('go', ['mod', 'download'], { cwd: GO, timeout: 60_000 }).status === 0;

const RECEIPTS = 5;
/** A receipt is in the log by then, or its absence is a fault: later than `log watch --receipts` waits. */
const LATER_MS = 600_000;
const WATCH = ['log', 'watch', '--once', '--receipts'];

const seed = randomBytes(32);
const receiptSeed = randomBytes(32);
let gateway: Gateway;
let operator: CheatingOperator;
let ids: string[];
let looked: Terminal;
beforeAll(async () => {
  const env = { LOG_SIGNING_KEY: seed.toString('base64'), RECEIPT_SIGNING_KEY: receiptSeed.toString('base64') };
  gateway = await Gateway.start({ process: 'shared', env });
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
  for (const name of [origin, `keys of ${gateway.url}`]) {
    const kept = await looked.logs.read(name);
    if (kept !== undefined) await terminal.logs.replace(name, undefined, kept);
  }
  return { terminal, type: typing(terminal) };
}

/** One who has kept the keys, and has not looked at the log before. */
async function newcomer() {
  const known = await customer();
  const terminal = newTerminal();
  const keys = [...known.terminal.files].filter(([path]) => !path.endsWith('.log-checkpoint'));
  for (const [path, content] of keys) terminal.files.set(path, content);
  return { terminal, type: typing(terminal) };
}

/** Programs with the SDK, and with the store of the verifier in the browser, that have verified a receipt before and do so again. */
async function applications(): Promise<(() => Promise<unknown>)[]> {
  const texts = new Map<string, string>();
  const web = { getItem: (name: string) => texts.get(name) ?? null, setItem: (name: string, text: string) => void texts.set(name, text) };
  const stores = [memoryLogStore(), webLogStore(web), looked.logs];
  return Promise.all(
    stores.map(async (logStore) => {
      const { receipts } = new Tallygate({ apiKey: null, baseUrl: gateway.url, logStore });
      const receipt = await receipts.get(ids[0] ?? '');
      const look = () => receipts.verify(receipt);
      expect(await look()).toMatchObject({ valid: true });
      return look;
    }),
  );
}

/** The lines of an export of the month. */
async function exported(terminal: Terminal, type: ReturnType<typeof typing>) {
  await type('receipts', 'export', '--month', month(), '-o', 'all.jsonl');
  const [header = '', ...receipts] = (terminal.files.get('all.jsonl') ?? '').trimEnd().split('\n');
  const end: { receipts: number; logged: number } = JSON.parse(receipts.pop() ?? '{}');
  return { header, receipts, end };
}

const textOf = (header: string, receipts: readonly string[], end: object): string =>
  `${[header, ...receipts, JSON.stringify(end)].join('\n')}\n`;

const month = () => new Date().toISOString().slice(0, 7);
const cheaper = (entry: LoggedRow): LoggedRow => ({ ...entry, payload: entry.payload.replace('"estimated":false', '"estimated":true') });

interface Attack {
  /** As the page of attacks has it. */
  readonly name: string;
  attack(entries: readonly LoggedRow[]): Promise<void>;
  /** What the customer types. */
  readonly command: readonly string[];
  /** Whether they have never looked at the log before: they have the keys alone. */
  readonly isNew?: true;
  readonly exitCode: number;
  readonly says: string;
}

const changed = (entry: LoggedRow | undefined, changes: object): LoggedRow => {
  if (!entry) throw new Error('The log has that receipt');
  return { ...entry, payload: canonicalJson({ ...JSON.parse(entry.payload), ...changes }) };
};
const entryOf = ({ payload }: LoggedRow) => JSON.parse(payload).price_entry as { index: number; digest: string };

const ATTACKS: readonly Attack[] = [
  {
    name: 'rewrite: a logged receipt is altered, the log signed anew',
    attack: ([first, ...others]) => operator.makeLog([cheaper(first as LoggedRow), ...others]),
    get says() {
      return `two states of ${operator.declared + RECEIPTS} entries`;
    },
    ...{ command: WATCH, exitCode: 7 },
  },
  {
    name: 'delete: a logged receipt is taken out',
    attack: ([, ...others]) => operator.makeLog(others),
    ...{ command: WATCH, exitCode: 7, says: 'does not prove' },
  },
  {
    name: 'insert: a receipt is put in before others',
    attack: ([first, ...others]) => operator.makeLog([invented(first as LoggedRow), first as LoggedRow, ...others]),
    ...{ command: WATCH, exitCode: 7, says: 'does not begin with' },
  },
  {
    name: 'fork: you are shown another log than you were before',
    attack: ([first, second, ...others]) =>
      operator.makeLog([second as LoggedRow, first as LoggedRow, ...others, invented(first as LoggedRow)]),
    get command() {
      return ['receipts', 'get', ids[0] ?? ''];
    },
    ...{ exitCode: 7, says: 'does not begin with' },
  },
  {
    name: 'roll back: the log is what it was before the last receipts',
    attack: (entries) => operator.makeLog(entries.slice(0, 3)),
    ...{ command: WATCH, exitCode: 7, says: 'does not prove' },
  },
  {
    name: 'backdate price: a receipt names a price that was declared after it',
    attack: ([first, ...others]) => {
      const late = { ...entryOf(first as LoggedRow), index: operator.declared + RECEIPTS };
      return operator.makeLog([changed(first, { price_entry: late }), ...others]);
    },
    ...{ command: ['receipts', 'verify', 'all.jsonl'], isNew: true, exitCode: 3, says: 'price_logged_after' },
  },
  {
    name: 'backdate key: a key is published as valid from an earlier time',
    attack: () => operator.sql("update signing_keys set not_before = not_before - interval '1 year'"),
    ...{ command: ['receipts', 'keys'], exitCode: 3, says: 'not_before was' },
  },
  {
    name: 'new key: a key is published that is not in the log',
    attack: async () => void (await operator.publishKey()),
    ...{ command: ['receipts', 'keys'], exitCode: 3, says: 'no kept key has signed it' },
  },
  {
    name: 'new key: a key is declared that no key before it has signed',
    attack: async () => operator.declareKey(await operator.publishKey()),
    ...{ command: ['receipts', 'keys'], exitCode: 3, says: 'no kept key has signed it' },
  },
  {
    name: 'new key: a key is declared that a stranger has signed',
    attack: async () => operator.declareKey(await operator.publishKey(), signingKeyFromSeed(newSigningSeed())),
    ...{ command: ['receipts', 'keys'], exitCode: 3, says: 'no kept key has signed it' },
  },
  {
    name: 'reuse id: a receipt has the id of another one',
    attack: ([first, second, ...others]) =>
      operator.makeLog([first as LoggedRow, changed(second, { receipt_id: (first as LoggedRow).receipt_id }), ...others]),
    ...{ command: ['receipts', 'verify', 'all.jsonl'], isNew: true, exitCode: 3, says: 'id_mismatch' },
  },
  {
    name: 'two receipts: a request is charged by a second receipt',
    attack: ([first, second, ...others]) =>
      operator.makeLog([
        first as LoggedRow,
        changed(second, { request_id: JSON.parse((first as LoggedRow).payload).request_id }),
        ...others,
      ]),
    ...{ command: ['receipts', 'verify', 'all.jsonl'], isNew: true, exitCode: 3, says: 'billed_twice' },
  },
  {
    name: 'leave out of an export: the numbers of its receipts have a gap',
    attack: ([first]) =>
      operator.sql('update receipts set account_id = $2 where receipt_id = $1', [
        first?.receipt_id,
        '019aa2f1-c2d3-7b6e-8c4d-000000000001',
      ]),
    ...{ command: ['receipts', 'verify', 'all.jsonl'], exitCode: 3, says: 'missing_receipts' },
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
    name: 'SQL with keys: a charge is altered, sealed and signed anew',
    attack: ([first, ...others]) => operator.makeLog([changed(first, { response_sha256: randomBytes(32).toString('hex') }), ...others]),
    get command() {
      return ['receipts', 'get', ids[0] ?? ''];
    },
    get says() {
      return `two states of ${operator.declared + RECEIPTS} entries`;
    },
    exitCode: 7,
  },
  {
    name: 'leave out of the declarations: the newest price is not listed any more',
    attack: () =>
      operator.sql("delete from log_declarations where log_index = (select max(log_index) from log_declarations where kind = 'price')"),
    ...{ command: ['receipts', 'keys'], exitCode: 3, says: 'was shown before' },
  },
  {
    name: 'leave out of the declarations: you are never shown one that another follows',
    attack: () =>
      operator.sql("delete from log_declarations where log_index = (select min(log_index) from log_declarations where kind = 'key')"),
    ...{ command: ['receipts', 'keys'], isNew: true, exitCode: 3, says: 'is left out' },
  },
  {
    name: 'leave out of the declarations: you are never shown the newest price',
    attack: () =>
      operator.sql("delete from log_declarations where log_index = (select max(log_index) from log_declarations where kind = 'price')"),
    ...{ command: ['receipts', 'keys'], isNew: true, exitCode: 3, says: 'leaves out the entry of' },
  },
  {
    name: 'leave out of the log: a receipt is issued and never logged',
    attack: async () => {
      const answer = await ask(gateway, gateway.bootstrap.test_api_key, HELLO);
      const receipt = `${gateway.url}/v1/receipts/${answer.headers.get('x-receipt-id')}`;
      await vi.waitUntil(async () => (await fetch(receipt)).ok, { timeout: 60_000 });
    },
    ...{ command: WATCH, exitCode: 3, says: 'is not in the log' },
  },
];

describe.skipIf(!canBuild)('torchwood, an independent implementation,', { timeout: 400_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-follow-'));
  const program = join(folder, 'follow');
  // Not in one stretch: meanwhile the gateway closes connections, and this process has to hear of it.
  beforeAll(async () => {
    await promisify(execFile)('go', ['build', '-o', program, './follow'], { cwd: GO });
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

test('a key that the one before has signed in the log is accepted', async () => {
  const { type } = await customer();
  try {
    const made = await operator.publishKey();
    await operator.declareKey(made, signingKeyFromSeed(receiptSeed));
    expect(await type('receipts', 'keys')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(made.kid) });
  } finally {
    await operator.undo();
  }
});

describe('a customer alone notices', () => {
  test('split view: you are shown other witnesses than the log declares', async () => {
    const [sham = ''] = readVector('broken/log-witnessed-before-completion').witnesses ?? [];
    await using view = await showOtherWitnesses(gateway.url, `1 of ${sham}`);
    const terminal = new Terminal({ baseUrl: view.url });
    const { stderr, exitCode } = await terminal.type(['receipts', 'keys'], {});
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining('lists other witnesses') });
    expect(terminal.file('default.witnesses')).toBeUndefined();
    const { receipts } = new Tallygate({ apiKey: null, baseUrl: view.url });
    await expect(receipts.verify(await receipts.get(ids[0] ?? ''))).rejects.toThrow(WitnessesUndeclaredError);
    const honest = new Tallygate({ apiKey: null, baseUrl: gateway.url });
    expect(await honest.receipts.verify(await honest.receipts.get(ids[0] ?? ''))).toMatchObject({ valid: true });
  });

  test('reuse id: two receipts of an export have one id', async () => {
    const { terminal, type } = await customer();
    const { header, receipts, end } = await exported(terminal, type);
    const [first = '', ...others] = receipts;
    terminal.files.set(
      'twice.jsonl',
      textOf(header, [first, ...others, first], { ...end, receipts: end.receipts + 1, logged: end.logged + 1 }),
    );
    const { stdout, stderr, exitCode } = await type('receipts', 'verify', 'twice.jsonl');
    expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 3, said: expect.stringContaining('repeated_receipt') });
  });

  test.each([
    ['quota-withheld', 'quota_mismatch'],
    ['counted-to-another-payer', 'invoice_mismatch'],
    ['false-total', 'invoice_mismatch'],
  ])('false invoice: an invoice is not what its receipts come to (%s)', async (name, code) => {
    const { terminal, type } = await customer();
    const { invoice, exports } = readVector(`invoices/${name}`) as unknown as { invoice: object; exports: string[][] };
    terminal.files.set('keys.json', keySet).set('invoice.json', JSON.stringify(invoice));
    const named = exports.flatMap((lines, at) => {
      terminal.files.set(`${at}.jsonl`, lines.join('\n'));
      return ['--export', `${at}.jsonl`];
    });
    const { stdout, stderr, exitCode } = await type('invoices', 'verify', 'invoice.json', '--keys', 'keys.json', ...named);
    expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 3, said: expect.stringContaining(code) });
  });

  test.each(ATTACKS)('$name', async ({ name, attack, command, exitCode, says, isNew }) => {
    const { terminal, type } = isNew ? await newcomer() : await customer();
    const others = command.join(' ') === 'receipts keys' && !name.startsWith('leave out') ? await applications() : [];
    try {
      await attack(await operator.entries());
      if (command.includes('all.jsonl')) await exported(terminal, type);
      const { stdout, stderr, exitCode: found } = await type(...command);
      expect({ found, said: `${stdout}${stderr}` }).toEqual({ found: exitCode, said: expect.stringContaining(says) });
      for (const look of others) await expect(look()).rejects.toThrow(KeysContradictedError);
    } finally {
      await operator.undo();
    }
  });
});

/** Those that the issue of the log knows; each is a test of this file. */
const KNOWN = [
  ...['rewrite', 'delete', 'insert', 'fork', 'roll back', 'backdate price', 'backdate key', 'new key', 'reuse id', 'two receipts'],
  ...[
    'leave out of the log',
    'leave out of an export',
    'leave out of the declarations',
    'false invoice',
    'SQL without keys',
    'SQL with keys',
    'split view',
  ],
];

describe('the page of attacks', () => {
  const rows = attacksOfPage();

  test('has each known attack, who notices it, and within what time', () => {
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(KNOWN));
    for (const { who, within } of rows) {
      expect(who).toMatch(/^you, alone/);
      expect(within).toMatch(/^(at once|the next (full )?look|5 minutes)/);
    }
  });

  test('has the title, the command and the exit code of the test of each attack', () => {
    const source = readFileSync(fileURLToPath(import.meta.url), 'utf8');
    for (const { title } of rows) expect(source).toContain(`'${title}`);
    const tested = ATTACKS.map(({ name, exitCode, command: [noun, verb, ...more] }) => ({
      ...{ title: name, exitCode },
      command: [noun, verb, ...more.filter((word) => word.startsWith('--') && word !== '--once')].join(' '),
    }));
    for (const attack of tested) expect(rows).toContainEqual(expect.objectContaining(attack));
  });
});
