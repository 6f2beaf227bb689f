import { expect, test } from 'vitest';
import { parseInferenceHeaders } from './headers.ts';

test('without any of them the defaults hold', () => {
  expect(parseInferenceHeaders({ 'user-agent': 'x' })).toEqual({
    runId: null,
    runCap: null,
    budgetPolicy: 'strict',
    fallbackPolicy: 'deployment',
    sandboxFault: undefined,
  });
});

test.each([
  [{ 'x-agent-run-id': 'run-1' }, { runId: 'run-1', runCap: null, fallbackPolicy: 'semantic' }],
  [{ 'x-agent-run-id': 'a'.repeat(128) }, { runId: 'a'.repeat(128) }],
  [{ 'x-agent-run-id': 'r', 'x-agent-max-budget': '0.50' }, { runCap: 500_000_000n }],
  [{ 'x-agent-run-id': 'r', 'x-agent-max-budget': '0' }, { runCap: 0n }],
  [{ 'x-agent-run-id': 'r', 'x-agent-max-budget': '999999999.999999999' }, { runCap: 999_999_999_999_999_999n }],
  [{ 'x-agent-run-id': 'r', 'x-fallback-policy': 'none' }, { fallbackPolicy: 'none' }],
  [{ 'x-fallback-policy': 'semantic' }, { runId: null, fallbackPolicy: 'semantic' }],
  [{ 'x-budget-policy': 'clamp' }, { budgetPolicy: 'clamp' }],
  [{ 'x-sandbox-fault': 'timeout' }, { sandboxFault: 'timeout' }],
])('%o is taken', (headers, expected) => {
  expect(parseInferenceHeaders(headers)).toMatchObject(expected);
});

test.each([
  ['x-agent-run-id', { 'x-agent-run-id': '' }],
  ['x-agent-run-id', { 'x-agent-run-id': 'a'.repeat(129) }],
  ['x-agent-run-id', { 'x-agent-run-id': '-starts-badly' }],
  ['x-agent-run-id', { 'x-agent-run-id': 'one, two' }],
  ['x-agent-run-id', { 'x-agent-run-id': 'ümlaut' }],
  ['x-agent-run-id', { 'x-agent-max-budget': '1' }],
  ['x-agent-max-budget', { 'x-agent-run-id': 'r', 'x-agent-max-budget': '-1' }],
  ['x-agent-max-budget', { 'x-agent-run-id': 'r', 'x-agent-max-budget': '1e3' }],
  ['x-agent-max-budget', { 'x-agent-run-id': 'r', 'x-agent-max-budget': '0.1234567890' }],
  ['x-agent-max-budget', { 'x-agent-run-id': 'r', 'x-agent-max-budget': 'NaN' }],
  ['x-agent-max-budget', { 'x-agent-run-id': 'r', 'x-agent-max-budget': '1,5' }],
  ['x-agent-max-budget', { 'x-agent-run-id': 'r', 'x-agent-max-budget': '１' }],
  ['x-budget-policy', { 'x-budget-policy': 'Clamp' }],
  ['x-fallback-policy', { 'x-fallback-policy': 'all' }],
  ['x-vaas-anchor', { 'x-vaas-anchor': '1' }],
])('a bad %s is refused by name: %o', (name, headers) => {
  expect(() => parseInferenceHeaders(headers)).toThrow(
    expect.objectContaining({ code: 'validation_failed', extras: expect.objectContaining({ param: name }) }),
  );
});
