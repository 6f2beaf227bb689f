import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkpointNote, entryAt, leavesAround, rootOf } from '../../../packages/receipts/scripts/vector-log.ts';
import { current, issue, payloadWith } from '../../../packages/receipts/scripts/vector-receipts.ts';
import { Terminal } from '../../testing/terminal.ts';
import { keySet } from '../../testing/vectors.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
  terminal.files.set('/config/tallygate/default.vaas-keys.json', keySet);
  for (const [name, receipt] of Object.entries({ kept, met, later })) terminal.files.set(`${name}.json`, JSON.stringify(receipt));
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** One receipt in two logs of one name that have another entry beside it, and in a later state of the first. */
const PAYLOAD = payloadWith();
const honest = leavesAround(PAYLOAD, 5, 30);
const forked = honest.with(2, honest[3] ?? new Uint8Array());
const receiptIn = (leaves: readonly Uint8Array[]) => {
  const log = entryAt(leaves, 5);
  return { ...issue(PAYLOAD, current, log), log };
};
const kept = receiptIn(honest.slice(0, 13));
const met = receiptIn(forked.slice(0, 20));
const later = receiptIn(honest.slice(0, 20));

const noteOf = (leaves: readonly Uint8Array[]) => ({ text: checkpointNote({ size: leaves.length, root: rootOf(leaves) }) });
const tileOf = (leaves: readonly Uint8Array[], width: number) => ({ pieces: leaves.slice(0, width), end: true }) as const;
const verify = (file: string, ...more: string[]) => terminal.type(['receipts', 'verify', file, ...more], {});

describe('a receipt in a state of the log', () => {
  it('that grew out of the stored one is valid, and is not fetched twice', async () => {
    expect(await verify('kept.json')).toMatchObject({ exitCode: 0 });
    gateway.script(noteOf(honest), tileOf(honest, 20));
    expect(await verify('later.json')).toMatchObject({ exitCode: 0 });
    expect(gateway.requests.map(({ path }) => path)).toEqual(['/v1/log/checkpoint', '/v1/log/tile/0/000.p/20']);
    expect(await verify('kept.json')).toMatchObject({ exitCode: 0 });
    expect(await verify('later.json')).toMatchObject({ exitCode: 0 });
    expect(gateway.requests).toHaveLength(2);
  });

  it('that contradicts the stored one is not called valid: exit code 7, both states in a file', async () => {
    await verify('kept.json');
    gateway.script(noteOf(forked), tileOf(forked, 20));
    const { stdout, stderr, exitCode } = await verify('met.json');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 7 });
    const [[name = '', evidence = ''] = []] = terminal.logs.evidence;
    expect(stderr).toContain(name);
    expect(JSON.parse(evidence)).toMatchObject({ code: 'log_forked', kept: kept.log.checkpoint, met: met.log.checkpoint });
  });

  it('that cannot be compared is not checked; with --offline it is stored and compared later', async () => {
    await verify('kept.json');
    gateway.script({ reset: true }, { reset: true });
    expect(await verify('met.json')).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('could not be compared') });
    expect(await verify('met.json', '--offline')).toMatchObject({ exitCode: 0 });
    // Without the log: of one size there is one root.
    expect(await verify('later.json', '--offline')).toMatchObject({ exitCode: 7 });
  });

  it('of another gateway is not compared with the tiles of this one', async () => {
    await verify('kept.json');
    gateway.script({ text: checkpointNote({ size: 13, root: rootOf(honest.slice(0, 13)) }, { origin: 'another.example/v1/log' }) });
    expect(await verify('later.json')).toMatchObject({ exitCode: 6 });
  });

  it('is compared when it is fetched, and the file is written all the same', async () => {
    await verify('kept.json');
    gateway.script({ json: met }, noteOf(forked), tileOf(forked, 20));
    expect(await terminal.type(['receipts', 'get', PAYLOAD.receipt_id, '-o', 'fetched.json'], {})).toMatchObject({ exitCode: 7 });
    expect(JSON.parse(terminal.files.get('fetched.json') ?? '')).toEqual(met);
  });

  it('is compared where an export is against it', async () => {
    await verify('kept.json');
    const header = {
      ...{ object: 'receipt_export', version: 'tallygate-export/v1', month: '2026-11', livemode: true },
      ...{ created_at: '2026-11-21T09:00:00.000Z', checkpoint: met.log.checkpoint, keys: [] },
    };
    const end = { object: 'receipt_export.end', receipts: 1, logged: 1 };
    const text = [header, met, end].map((line) => `${JSON.stringify(line)}\n`).join('');
    terminal.files.set('month.jsonl', text);
    gateway.script(noteOf(forked), tileOf(forked, 20));
    expect(await verify('month.jsonl')).toMatchObject({ exitCode: 7 });
    gateway.script({ text }, noteOf(forked), tileOf(forked, 20));
    expect(await terminal.type(['receipts', 'export', '--month', '2026-11', '-o', 'fetched.jsonl'])).toMatchObject({ exitCode: 7 });
    expect(terminal.files.get('fetched.jsonl')).toBe(text);
  });
});
