import { describe, expect, test } from 'vitest';
import { policyWith as policy } from '../../scripts/policy-log.ts';
import { logOf } from '../../scripts/succession-vectors.ts';
import { keySet, stranger } from '../../scripts/vector-receipts.ts';
import type { LogPolicyDeclaration } from '../receipt.ts';
import { requireDeclaredWitnesses, WitnessesUndeclaredError } from './declared-witnesses.ts';

const [ONE, OTHER] = ['1 of a.example+1', '1 of b.example+2'];

describe('the witnesses of an agent document', () => {
  test.each([[null], [ONE]])('are those of the newest policy of the log (%s)', (listed) => {
    const log = logOf([policy(OTHER), policy(listed)]);
    const { checkpoint } = log as { checkpoint: string };
    expect(requireDeclaredWitnesses(listed, [log], keySet)).toBe(checkpoint);
  });

  test.each([
    ['others than the log declares', ONE, logOf([policy(OTHER)])],
    ['none where the log declares some', null, logOf([policy(ONE)])],
    ['some where the log declares none', ONE, logOf([policy(null)])],
    ['those of an earlier policy', ONE, logOf([policy(ONE), policy(OTHER)])],
    ['those of a log that another key has signed', ONE, logOf([policy(ONE)], [stranger])],
    ['those of a log without a policy', null, { ...logOf([policy(null)]), data: [] }],
    ['those of an answer that is none', null, { data: [] }],
  ])('are refused: %s', (_, listed, log) => {
    expect(() => requireDeclaredWitnesses(listed, [log], keySet)).toThrow(WitnessesUndeclaredError);
  });

  test('are refused where the newest policy is not proven to be in the log', () => {
    const log = logOf([policy(OTHER)]) as { data: { declaration: LogPolicyDeclaration }[] };
    const [entry] = log.data;
    const changed = { ...log, data: [{ ...entry, declaration: policy(ONE) }] };
    expect(() => requireDeclaredWitnesses(ONE, [changed], keySet)).toThrow('does not prove a policy');
  });
});
