import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  hasOpenssl,
  startTimeStampingAuthority,
  type TimeStampingAuthority,
} from '../../../packages/receipts/scripts/time-stamping-authority.ts';
import { entryAt, leavesAround, pathOf, rootOf } from '../../../packages/receipts/scripts/vector-log.ts';
import { current, issue, LOG_ORIGIN, payloadWith } from '../../../packages/receipts/scripts/vector-receipts.ts';
import { checkpointText } from '../../../packages/receipts/src/index.ts';
import { Terminal } from '../../testing/terminal.ts';
import { keySet } from '../../testing/vectors.ts';

const PAYLOAD = payloadWith();
const INDEX = 5;
const leaves = leavesAround(PAYLOAD, INDEX, 30);
const receipt = issue(PAYLOAD, current, entryAt(leaves, INDEX));
/** A state of the same size, so that it is compared without asking anybody. */
const textOf = (origin = LOG_ORIGIN) => checkpointText({ origin, size: leaves.length, root: rootOf(leaves) });

describe.skipIf(!hasOpenssl)('the timestamp of a receipt', () => {
  let authority: TimeStampingAuthority;
  let other: TimeStampingAuthority;
  let token: Buffer;
  beforeAll(async () => {
    authority = await startTimeStampingAuthority();
    other = await startTimeStampingAuthority();
    token = await authority.stamp(textOf());
  });
  afterAll(async () => {
    await authority?.close();
    await other?.close();
  });

  let gateway: StubGateway;
  let terminal: Terminal;
  beforeEach(async () => {
    gateway = await startStubGateway();
    terminal = new Terminal(gateway);
    terminal.files.set('/config/tallygate/default.vaas-keys.json', keySet);
    terminal.files.set('receipt.json', JSON.stringify(receipt));
    terminal.files.set('ca.pem', authority.ca);
  });
  afterEach(() => gateway[Symbol.asyncDispose]());

  const timestamp = (changes: object = {}) => ({
    ...{
      object: 'receipt.timestamp',
      id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
      authority: authority.url,
      tree_size: leaves.length,
      checkpoint: textOf(),
    },
    ...{ time: '2026-11-21T08:00:00.000Z', token: token.toString('base64'), index: INDEX },
    path: pathOf(leaves, INDEX).map((hash) => Buffer.from(hash).toString('base64')),
    ...changes,
  });
  const check = (stamp: object, ...more: string[]) => {
    terminal.files.set('stamp.json', JSON.stringify(stamp));
    return terminal.type(
      ['anchors', 'timestamp', 'receipt.json', '--tsa-ca', 'ca.pem', '--timestamp', 'stamp.json', '--json', 'all', ...more],
      {},
    );
  };

  it('is fetched and stored, and then verifies offline', async () => {
    gateway.script({ json: timestamp() });
    const argv = ['anchors', 'timestamp', 'receipt.json', '--tsa-ca', 'ca.pem'];
    const { stdout, exitCode } = await terminal.type([...argv, '-o', 'kept.json'], {});
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^confirmed\nExisted at\t\d{4}-\d\d-\d\dT[\d:.]+Z\nBy the clock of\thttp:.+\nEntries\t30\n$/);
    expect(await terminal.type([...argv, '--timestamp', 'kept.json', '--offline'], {})).toMatchObject({ exitCode: 0 });
    expect(gateway.requests).toHaveLength(1);
  });

  it.each([
    [
      'of another text',
      () => timestamp({ checkpoint: checkpointText({ origin: LOG_ORIGIN, size: 30, root: rootOf(leaves.toReversed()) }) }),
      'is not in the state',
    ],
    ['of another place', () => timestamp({ index: INDEX + 1 }), 'is not in the state'],
    ['of another log', () => timestamp({ checkpoint: textOf('other.example/log') }), 'other.example/log'],
    [
      'that is altered',
      () =>
        timestamp({
          token: Buffer.from(token)
            .fill(7, token.length - 20)
            .toString('base64'),
        }),
      'does not hold',
    ],
    ['that is none', () => timestamp({ token: 'AAAA' }), 'cannot be read'],
  ])('does not hold where it is one %s', async (_, stamp, reason) => {
    const { stdout, exitCode } = await check(stamp());
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ confirmed: false, reason: expect.stringContaining(reason) });
  });

  it('is not valid when no trusted CA has certified the authority', async () => {
    terminal.files.set('ca.pem', other.ca);
    expect(await check(timestamp())).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('does not hold') });
    terminal.files.set('ca.pem', 'none');
    expect(await check(timestamp())).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('none in PEM') });
  });

  it('of a state that contradicts the stored one is a fork', async () => {
    const forked = leaves.with(2, leaves[3] ?? new Uint8Array());
    const text = checkpointText({ origin: LOG_ORIGIN, size: forked.length, root: rootOf(forked) });
    const stamp = timestamp({
      checkpoint: text,
      token: (await authority.stamp(text)).toString('base64'),
      path: pathOf(forked, INDEX).map((hash) => Buffer.from(hash).toString('base64')),
    });
    expect(await check(stamp)).toMatchObject({ exitCode: 7 });
  });
});
