import { memoryLogStore } from '@tallygate/sdk';
import { agentDocument } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { policyLog } from '../../../packages/receipts/scripts/policy-log.ts';
import { Terminal } from '../../testing/terminal.ts';
import { keySet, readVector, receiptTextOf } from '../../testing/vectors.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
  terminal.files.set('witnessed.json', receiptTextOf(readVector('good/logged-and-witnessed')));
  terminal.files.set('alone.json', receiptTextOf(readVector('good/logged')));
});
afterEach(() => gateway[Symbol.asyncDispose]());

const [WITNESS = ''] = readVector('broken/log-witnessed-before-completion').witnesses ?? [];
const POLICY = `1 of ${WITNESS}`;

const fetchKeys = (policy: string | null, ...more: string[]) => fetchKeysOf({ listed: policy, declared: policy }, ...more);

/** Of a log of its own: that of the vectors declares no witnesses. */
const fetchKeysOf = ({ listed, declared }: { readonly listed: string | null; readonly declared: string | null }, ...more: string[]) => {
  terminal.logs = memoryLogStore();
  const answers = [{ json: JSON.parse(keySet) }, { json: { object: 'list', data: [] } }, { json: agentDocument(listed) }];
  gateway.script(...answers, ...Array.from({ length: 3 }, () => ({ json: policyLog(declared).page })));
  return terminal.type(['receipts', 'keys', ...more], {});
};
const verify = (file: string, ...more: string[]) => {
  terminal.logs = memoryLogStore();
  return terminal.type(['receipts', 'verify', file, '--offline', '--no-prices', ...more], {});
};
const kept = () => terminal.file('default.witnesses');

describe('the witnesses that a gateway lists', () => {
  it('are stored with its keys, and required for every receipt from then on', async () => {
    await fetchKeys(null);
    expect(await verify('alone.json')).toMatchObject({ exitCode: 0 });
    expect((await fetchKeys(POLICY)).stderr).toContain(`Receipts must be cosigned from now on by ${POLICY}`);
    expect(await verify('witnessed.json')).toMatchObject({ exitCode: 0 });
    const { stdout, stderr, exitCode } = await verify('alone.json');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('(too_few_witnesses)');
    expect(stderr).toContain('Cosignatures follow an entry of the log by seconds');
    expect(await verify('alone.json', '--no-witnesses')).toMatchObject({ exitCode: 0 });
  });

  it('stay as stored where the gateway lists others or none, until a person replaces them', async () => {
    await fetchKeys(POLICY);
    for (const others of [null, POLICY.replace(/^\d+/, '0')]) {
      const { stderr, exitCode } = await fetchKeys(others);
      expect([exitCode, stderr]).toEqual([3, expect.stringContaining('lists other witnesses of its log than those stored')]);
      expect(kept()).toBe(`${POLICY}\n`);
    }
    const taken = await fetchKeys(null, '--new-witnesses');
    expect([taken.exitCode, taken.stderr]).toEqual([0, expect.stringContaining('cosigned from now on by no witness')]);
    expect(await verify('alone.json')).toMatchObject({ exitCode: 0 });
    await fetchKeys(POLICY);
    expect(kept()).toBe(`${POLICY}\n`);
  });

  it.each([
    ['none where it declares some', null, POLICY],
    ['some where it declares none', POLICY, null],
  ])('are not stored where its log declares others, also at the first contact: %s', async (_, listed, declared) => {
    const { stderr, exitCode } = await fetchKeysOf({ listed, declared });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('lists other witnesses')]);
    expect(kept()).toBeUndefined();
  });

  it('are not stored in an unknown format, and an unreadable stored file is an error', async () => {
    expect((await fetchKeys('some of them')).stderr).toContain('in an unknown format');
    expect(kept()).toBeUndefined();
    terminal.files.set('/config/tallygate/default.witnesses', 'some of them\n');
    expect(await verify('alone.json')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('has no witness policy') });
  });
});
