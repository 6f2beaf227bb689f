import { generateKeyPairSync } from 'node:crypto';
import { rememberCheckpoint, toVerifierKey, type VaasKeySet } from '@tallygate/receipts';
import { agentDocument, RECEIPT_ID, refusal } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { policyLog } from '../../../packages/receipts/scripts/policy-log.ts';
import { Terminal } from '../../testing/terminal.ts';
import { keySet, readVector, receiptTextOf } from '../../testing/vectors.ts';
import { nanoUsdText } from './calculation.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const receiptText = (name: string): string => receiptTextOf(readVector(name));
type Key = VaasKeySet['keys'][number];

/** The key of a witness that has cosigned nothing here. */
function absentWitness(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return toVerifierKey({ name: 'other.example', kind: 'cosignature', publicKey: Buffer.from(x, 'base64url') });
}

const NOT_COMPARED = expect.stringMatching(/^The unit prices were not compared with published ones: .+\n$/);

describe('receipts get', () => {
  it('prints the receipt as JSON, without a login', async () => {
    gateway.script({ json: JSON.parse(receiptText('good/plain')) });
    const { stdout, stderr, exitCode } = await terminal.type(['receipts', 'get', RECEIPT_ID], {});
    expect(JSON.parse(stdout)).toEqual(JSON.parse(receiptText('good/plain')));
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(gateway.requests[0]).toMatchObject({ path: `/v1/receipts/${RECEIPT_ID}` });
    expect(gateway.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('writes a file that verifies', async () => {
    gateway.script({ json: JSON.parse(receiptText('good/plain')) }, { json: JSON.parse(keySet) });
    expect(await terminal.type(['receipts', 'get', RECEIPT_ID, '-o', 'r.json'], {})).toEqual({
      stdout: '',
      stderr: 'Wrote r.json.\n',
      exitCode: 0,
    });
    await terminal.type(['receipts', 'keys'], {});
    expect((await terminal.type(['receipts', 'verify', 'r.json'], {})).stdout).toMatch(/^valid\n/);
  });

  it('exits with 1 while there is no such receipt', async () => {
    gateway.script(refusal('not_found'));
    expect(await terminal.type(['receipts', 'get', RECEIPT_ID], {})).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('A receipt exists a moment after its answer.'),
    });
  });
});

const PRICING = {
  ...{
    version: '2026-07-24',
    effective_from: '2026-01-01T00:00:00.000Z',
    currency: 'USD' as const,
    source: 'shipped',
    cited: null,
    entry: null,
  },
  ...{ prices: { input_tokens: '0.00000015', output_tokens: '0.0000006' }, tiers: [], batch_factor: '0.5' },
};

interface Succession {
  readonly kept: readonly Key[];
  readonly published: readonly Key[];
  readonly log: object;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

describe('receipts keys', () => {
  it('keeps the public keys and prices for offline verification without a login, or writes the keys where they are wanted', async () => {
    const prices = { object: 'list', data: [{ id: 'gpt-4o-mini', pricing: PRICING }] };
    gateway.script(
      { json: JSON.parse(keySet) },
      { json: prices },
      { json: agentDocument(null) },
      ...Array.from({ length: 3 }, () => ({ json: policyLog(null).page })),
      { json: JSON.parse(keySet) },
    );
    const { stderr, exitCode } = await terminal.type(['receipts', 'keys'], {});
    expect(stderr).toContain('in /config/tallygate/default.vaas-keys.json.');
    expect(stderr).not.toContain('could not be stored');
    expect(terminal.file('default.prices.json')).toContain('"input_tokens": "150000"');
    expect(exitCode).toBe(0);
    expect(JSON.parse(terminal.file('default.vaas-keys.json') ?? '')).toEqual(JSON.parse(keySet));
    const { stdout } = await terminal.type(['receipts', 'keys', '-o', '-'], {});
    expect(JSON.parse(stdout)).toEqual(JSON.parse(keySet));
  });

  describe('where keys are stored already', () => {
    const path = '/config/tallygate/default.vaas-keys.json';
    const { keys } = JSON.parse(keySet) as VaasKeySet;
    const [current, retired, ...others] = keys as [Key, Key, ...Key[]];
    const keep = (
      published: readonly unknown[],
      log: object = {
        checkpoint: 'c',
        tree_size: 1,
        declared: { price: 0, key: 0, key_retired: 0, policy: 0 },
        data: [],
        has_more: false,
        next_cursor: null,
      },
      more: string[] = [],
    ) => {
      gateway.script({ json: { keys: published } }, { json: log }, { json: { ...log, data: [] } }, { json: { object: 'list', data: [] } });
      return terminal.type(['receipts', 'keys', ...more], {});
    };
    const kept = () => JSON.parse(terminal.file('default.vaas-keys.json') ?? '').keys;
    const succession = (name: string) => readVector(`succession/${name}`) as unknown as Succession;
    beforeEach(() => void terminal.files.set(path, keySet));

    it('exits with 7 and keeps what was kept where another log declares a new key than was shown before', async () => {
      const { kept: before, published, log } = succession('rotation');
      terminal.files.set(path, JSON.stringify({ keys: before }));
      await rememberCheckpoint(Object(succession('unsigned').log).checkpoint, { store: terminal.logs });
      expect(await keep(published, log)).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('two states of 2 entries') });
      expect(kept()).toEqual(before);
    });

    it('prints nothing about keys where none has changed', async () => {
      gateway.script({ json: { keys: [...keys].reverse() } }, { json: { object: 'list', data: [] } });
      const { stderr, exitCode } = await terminal.type(['receipts', 'keys'], {});
      expect(stderr).not.toMatch(/^The (receipt key|key of the log)/m);
      expect(exitCode).toBe(0);
      expect(kept()).toEqual(keys);
    });

    it.each([
      ['gone', [current, ...others], `${retired.kid} is published no longer`],
      ['of another time', [{ ...current, not_before: '2020-01-01T00:00:00.000Z' }, retired, ...others], 'is 2020-01-01T00:00:00.000Z.'],
      ['retired no more', [current, { ...retired, not_after: null }, ...others], 'not_after was 2026-07-01T00:00:00.000Z, is not set'],
    ])('exits with 3 and keeps what was kept where a key is %s', async (_, published, said) => {
      const { stderr, exitCode } = await keep(published);
      expect(stderr).toContain(said);
      expect(exitCode).toBe(3);
      expect(kept()).toEqual(keys);
    });

    it.each(['unsigned', 'signed-by-a-stranger', 'dated-back', 'not-in-the-log', 'retirement-not-declared'])(
      'exits with 3 and takes no key over where its entry in the log is %s',
      async (name) => {
        const { kept: before, published, log, refused } = succession(name);
        terminal.files.set(path, JSON.stringify({ keys: before }));
        const { stderr, exitCode } = await keep(published, log);
        expect(stderr).toContain(`${refused[0]} is`);
        expect(stderr).toContain('That contradicts the stored keys');
        expect(exitCode).toBe(3);
        expect(kept()).toEqual(before);
      },
    );

    it('takes over a new key that the one before has signed, and its retirement, as the log declares them', async () => {
      const { kept: before, published, log, accepted } = succession('retirement');
      terminal.files.set(path, JSON.stringify({ keys: before }));
      const { stderr, exitCode } = await keep(published, log);
      expect(stderr).toContain('is retired since 2026-12-01T00:00:00.000Z.');
      expect(stderr).toContain(`The receipt key ${accepted[0]} is new, valid from`);
      expect(exitCode).toBe(0);
      expect(new Set(kept().map(({ kid }: Key) => kid))).toEqual(new Set(published.map(({ kid }) => kid)));
    });

    it('exits with 3 and changes nothing where none of the stored keys is published', async () => {
      const refused = await keep([{ ...current, kid: 'another' }]);
      expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('None of the keys stored') });
      expect(terminal.files.get(path)).toBe(keySet);
    });

    it('moves the stored keys to a backup file with --replace', async () => {
      gateway.script({ json: { keys: [{ ...current, kid: 'another' }] } }, { json: { object: 'list', data: [] } });
      const { stderr, exitCode } = await terminal.type(['receipts', 'keys', '--replace'], {});
      const aside = /they are in (\S+) now/.exec(stderr)?.[1] ?? '';
      expect(terminal.files.get(aside)).toBe(keySet);
      expect(kept()).toEqual([{ ...current, kid: 'another' }]);
      expect(exitCode).toBe(0);
    });
  });
});

describe('receipts verify', () => {
  const verify = (receipt: string, more: string[] = []) => {
    terminal.files.set('r.json', receipt);
    terminal.files.set('keys.json', keySet);
    return terminal.type(['receipts', 'verify', 'r.json', '--keys', 'keys.json', ...more], { isTty: true });
  };

  it('prints a summary, exits with 0 and makes no request', async () => {
    const { stdout, stderr, exitCode } = await verify(receiptText('good/plain'));
    expect({ stderr, exitCode }).toEqual({ stderr: NOT_COMPARED, exitCode: 0 });
    const { payload } = JSON.parse(receiptText('good/plain'));
    expect(stdout.split('\n').slice(0, 12)).toEqual([
      'valid',
      `Receipt               ${payload.receipt_id}`,
      `Request               ${payload.request_id}`,
      `Model                 ${payload.model_served} (${payload.provider})`,
      `Usage                 ${payload.usage.input_tokens} tokens in, ${payload.usage.output_tokens} out`,
      'Cost                  0.000384 USD',
      '  fresh input tokens  1200 × 0.00000015 USD = 0.00018 USD',
      '  text output tokens  340 × 0.0000006 USD = 0.000204 USD',
      '  total               = 0.000384 USD, rounded up once',
      `Completed             ${payload.completed_at} (completed)`,
      'Mode                  live',
      'Log                   pending',
    ]);
    expect(gateway.requests).toHaveLength(0);
  });

  it.each([
    ['cached-tokens-without-own-price', 'cached input tokens  600 × 0.00000015 USD (price of input tokens) = 0.00009 USD'],
    ['images', 'cached image input tokens  100 × 0.0000025 USD = 0.00025 USD'],
    ['images', '350 tokens in, 8320 out, 2 images'],
    ['speech', 'Usage               250 characters'],
    ['transcription-by-tokens', 'audio seconds       30, counted without a price'],
    ['video-job', 'video seconds  8 × 0.1 USD = 0.8 USD'],
    ['batch-line', 'factor              × 0.5'],
    ['refund-in-part', 'Cost                  0.0001 USD given back'],
    ['refund-in-part', 'total               = 0.000384 USD, rounded up once, at most given back'],
    ['refund', 'Reason                The provider made nothing of it.'],
  ])('shows of %s how the cost comes about: %s', async (name, line) => {
    expect((await verify(receiptText(`good/${name}`))).stdout).toContain(line);
  });

  it('prints where a receipt is in the log, what that proves and what it does not', async () => {
    const { stdout } = await verify(receiptText('good/logged'));
    expect(stdout).toContain('Log                   entry 5 of 13 in vectors.tallygate.test/receipts\n');
    expect(stdout).toMatch(/\nThis proves:\n- The service signed this receipt.+\n(- .+\n)*- It is entry 5 of the log/);
    expect(stdout).toMatch(/\nIt does not prove:\n- That the named model made the answer/);
  });

  describe('--promise', () => {
    const promised = (name: string, receipt: string, more: string[] = []) =>
      verify(receiptText(receipt), ['--promise', (readVector(`promises/${name}`) as unknown as { jws: string }).jws, ...more]);

    it('exits with 3 where the receipt is not in the log by the promised time: pending is a fault then', async () => {
      const { stdout, exitCode } = await promised('overdue', 'good/plain');
      expect(stdout).toMatch(
        /^broken, which proves misbehaviour: The receipt \S+ was promised to be in the log by 2026-11-21T07:48:20.000Z/,
      );
      expect(exitCode).toBe(3);
    });

    it('exits with 0 while there is time left', async () => {
      expect(await promised('promise', 'good/plain')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^pending: /) });
    });

    it('exits with 0 where the receipt is in the log, and with 3 where it costs more than promised', async () => {
      expect(await promised('promise', 'good/logged')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^kept: /) });
      expect(await promised('dearer', 'good/logged')).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('383999') });
    });

    it('answers scripts in JSON', async () => {
      const { stdout, exitCode } = await promised('overdue', 'good/plain', ['--json', 'valid,state']);
      expect([JSON.parse(stdout), exitCode]).toEqual([{ valid: false, state: 'broken' }, 3]);
    });
  });

  it('requires a proof of inclusion with --require-log', async () => {
    expect((await verify(receiptText('good/logged-with-price'), ['--require-log'])).exitCode).toBe(0);
    const { stdout, exitCode } = await verify(receiptText('good/plain'), ['--require-log']);
    expect(stdout).toContain('(not_logged)');
    expect(exitCode).toBe(3);
  });

  it('demands all the witnesses that are named, or as many as are enough', async () => {
    const { verifier_key: present } = readVector('witness') as { verifier_key: string };
    const named = ['--witness', present, '--witness', absentWitness()];
    expect(await verify(receiptText('good/logged-and-witnessed'), named)).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('(too_few_witnesses)'),
    });
    const { stdout, exitCode } = await verify(receiptText('good/logged-and-witnessed'), [...named, '--quorum', '1']);
    expect(stdout).toContain('vectors.tallygate.test/witness saw that state of the log at 2026-11-21T08:00:05.000Z');
    expect(stdout).toContain('vectors.tallygate.test/witness cosigns one history');
    expect(exitCode).toBe(0);
    expect((await verify(receiptText('good/logged'), ['--quorum', '1'])).exitCode).toBe(2);
  });

  it('exits with 3 for a file that is no receipt at all', async () => {
    expect((await verify('<html>')).exitCode).toBe(3);
  });

  it('answers scripts in JSON, with the same exit codes', async () => {
    const yes = await verify(receiptText('good/plain'), ['--json', 'valid,checks']);
    expect({ ...yes, stdout: JSON.parse(yes.stdout) }).toMatchObject({ stdout: { valid: true, checks: { signature: 'ok' } }, exitCode: 0 });
    const no = await verify(receiptText('broken/changed-price'), ['--json', 'valid,code']);
    expect({ ...no, stdout: JSON.parse(no.stdout) }).toMatchObject({ stdout: { valid: false }, exitCode: 3 });
  });

  it('reads the receipt from a pipe', async () => {
    terminal.files.set('keys.json', keySet);
    const argv = ['receipts', 'verify', '-', '--keys', 'keys.json'];
    expect((await terminal.type(argv, { stdin: receiptText('good/plain') })).exitCode).toBe(0);
  });

  it('exits with 1 and explains how to get the keys when there are none', async () => {
    terminal.files.set('r.json', receiptText('good/plain'));
    const { stderr, exitCode } = await terminal.type(['receipts', 'verify', 'r.json'], {});
    expect(stderr).toContain('next: Fetch the public keys with `tallygate receipts keys`');
    expect(exitCode).toBe(1);
  });
});

it.each([
  ['0', '0'],
  ['1', '0.000000001'],
  ['2550', '0.00000255'],
  ['10000000000', '10'],
  ['12345678901', '12.345678901'],
])('writes %s nano-USD as %s USD', (nano, usd) => expect(nanoUsdText(nano)).toBe(usd));
